"""What a broker's /metrics says that the overview shows; pure.

The counters are the broker's own, since it started: two looks make a rate.
"""

from __future__ import annotations

import re
from typing import NamedTuple

LINE = re.compile(r'^(?P<name>[a-zA-Z_:]\w*)(?:\{(?:topic="")?,?\})? (?P<value>\S+)$', re.M)
METERS = "kafka_server_brokertopicmetrics"


class Figures(NamedTuple):
    """One look at one broker."""

    at_s: float
    messages_in: float
    bytes_in: float
    bytes_out: float
    stall_s: float | None  # The longest for which its loop heard nobody; None if it does not say.


class Rates(NamedTuple):
    """What went through in a second."""

    messages_in: float = 0.0
    bytes_in: float = 0.0
    bytes_out: float = 0.0


def read_figures(text: str, at_s: float) -> Figures:
    said = {match["name"]: match["value"] for match in LINE.finditer(text)}

    def value(name: str) -> float:
        return float(said.get(name, "0"))

    stall = said.get("odradek_loop_stall_seconds_max")
    return Figures(
        at_s,
        value(f"{METERS}_messagesin_total"),
        value(f"{METERS}_bytesin_total"),
        value(f"{METERS}_bytesout_total"),
        None if stall is None else float(stall),
    )


def rates_between(before: Figures, after: Figures) -> Rates:
    """A broker that was started anew counts from nought: then nothing is known."""
    seconds = after.at_s - before.at_s
    if seconds <= 0 or after.messages_in < before.messages_in:
        return Rates()
    return Rates(
        (after.messages_in - before.messages_in) / seconds,
        max(0.0, after.bytes_in - before.bytes_in) / seconds,
        max(0.0, after.bytes_out - before.bytes_out) / seconds,
    )
