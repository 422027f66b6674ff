"""Quotas: how many znodes and bytes a subtree may hold.

The limits of /a are the data of /zookeeper/quota/a/zookeeper_limits, what it uses that of
…/zookeeper_stats, both as text. The stats are kept by every server as it applies, and are not
logged. A soft limit is only warned about; a hard one refuses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from odradek.zookeeper.state.paths import QUOTA, ancestors_of

LIMITS_NAME = "zookeeper_limits"
STATS_NAME = "zookeeper_stats"
UNSET = -1


def limits_path(path: str) -> str:
    return f"{QUOTA}{path}/{LIMITS_NAME}"


def stats_path(path: str) -> str:
    return f"{QUOTA}{path}/{STATS_NAME}"


@dataclass(slots=True)
class QuotaText:
    """The numbers of a limits or stats znode: `count=3,bytes=40=;byteHardLimit=100`."""

    count: int = UNSET
    data_bytes: int = UNSET
    others: dict[str, int] = field(default_factory=dict)

    @classmethod
    def parse(cls, data: bytes | None) -> QuotaText:
        """Read the text; what makes no sense is left out."""
        numbers: dict[str, int] = {}
        for pair in re.split("[,;]+", (data or b"").decode(errors="replace")):
            key, _, value = pair.partition("=")
            number = value.rstrip("=")
            if key and re.fullmatch(r"-?\d+", number):
                numbers[key] = int(number)
        return cls(numbers.pop("count", UNSET), numbers.pop("bytes", UNSET), numbers)

    def text(self) -> bytes:
        """The strange equals sign makes old readers pass over what follows it."""
        rest = "".join(f";{key}={value}" for key, value in sorted(self.others.items()))
        return f"count={self.count},bytes={self.data_bytes}{'=' + rest if rest else ''}".encode()

    def limit_of_count(self) -> tuple[int, bool]:
        """The limit, and whether it is hard."""
        hard = self.others.get("countHardLimit", UNSET)
        return (hard, True) if hard > UNSET else (self.count, False)

    def limit_of_bytes(self) -> tuple[int, bool]:
        hard = self.others.get("byteHardLimit", UNSET)
        return (hard, True) if hard > UNSET else (self.data_bytes, False)


class Quotas:
    """Which subtrees have a quota."""

    __slots__ = ("paths",)

    def __init__(self) -> None:
        self.paths: set[str] = set()

    def covering(self, path: str) -> str | None:
        """The nearest subtree with a quota that this path is in."""
        if not self.paths:
            return None
        return next((each for each in ancestors_of(path) if each in self.paths), None)
