"""What users write on a command line, read: settings, numbers, times, partitions; pure.

What cannot be read is refused with what was expected, in the words of the option.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import typer

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def read_settings(given: Iterable[str] | None) -> dict[str, str]:
    """KEY=VALUE, each."""
    found = {}
    for text in given or ():
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise typer.BadParameter(f"{text!r} is not of the form KEY=VALUE")
        found[key] = value
    return found


def read_numbers(text: str, option: str) -> list[int]:
    """Numbers between commas, none twice."""
    try:
        numbers = [int(word) for word in text.split(",")]
    except ValueError as error:
        raise typer.BadParameter(f"{option}: {text!r} is not a list such as 1,2,3") from error
    if len(set(numbers)) < len(numbers):
        raise typer.BadParameter(f"{option}: {text!r} names one twice")
    return numbers


def read_placement(text: str) -> list[list[int]]:
    """Brokers of each partition: 1:2,2:3 are two partitions with two replicas."""
    return [read_numbers(part.replace(":", ","), "--placement") for part in text.split(",")]


def read_time_ms(text: str, now_ms: int) -> int:
    """A time: milliseconds since 1970, 2026-11-15T12:00, or so long ago (30s, 5m, 2h, 1d)."""
    if text.isdecimal():
        return int(text)
    if text[:-1].isdecimal() and text[-1] in UNITS:
        ago = timedelta(**{UNITS[text[-1]]: int(text[:-1])})
        return now_ms - int(ago.total_seconds() * 1000)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(
            f"{text!r} is no time: write 2026-11-15T12:00, 5m (ago), or milliseconds since 1970"
        ) from error
    return int(moment.timestamp() * 1000)


def time_text(time_ms: int) -> str | None:
    """A time as people write it, in UTC; None if there is none."""
    if time_ms < 0:
        return None
    moment = datetime.fromtimestamp(time_ms / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
