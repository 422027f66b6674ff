"""How often each value was seen, and what follows from it.

Values are whole numbers, mostly milliseconds, so there are few different ones: to keep a count of
each is cheap, and exact where samples would guess.
"""

from __future__ import annotations

from collections import Counter as Multiset
from collections.abc import Iterator

from odradek.runtime.instruments import Instrument, Sample

BASIC = (0.5,)
DETAILED = (0.5, 0.9, 0.99)


class Distribution(Instrument):
    """Values and their counts; `quantiles` are those that Prometheus is told."""

    __slots__ = ("counts", "quantiles")
    kind = "summary"

    def __init__(
        self, counts: Multiset[int] | None = None, quantiles: tuple[float, ...] = BASIC
    ) -> None:
        self.counts: Multiset[int] = Multiset() if counts is None else counts
        self.quantiles = quantiles

    def observe(self, value: int) -> None:
        self.counts[value] += 1

    @property
    def count(self) -> int:
        return self.counts.total()

    @property
    def total(self) -> int:
        return sum(value * count for value, count in self.counts.items())

    @property
    def mean(self) -> float:
        """To four decimals, as monitors are used to."""
        return round(self.total / self.count, 4) if self.counts else 0.0

    @property
    def least(self) -> int:
        return min(self.counts, default=0)

    @property
    def most(self) -> int:
        return max(self.counts, default=0)

    def above(self, bound: int) -> int:
        """How many were larger than this."""
        return sum(count for value, count in self.counts.items() if value > bound)

    def quantile(self, share: float) -> int:
        """The least value that so large a share of all does not exceed; 0 if there are none."""
        wanted, so_far = share * self.count, 0
        for value in sorted(self.counts):
            so_far += self.counts[value]
            if so_far >= wanted:
                return value
        return 0

    def samples(self) -> Iterator[Sample]:
        for share in self.quantiles:
            yield "", {"quantile": str(share)}, self.quantile(share)
        yield "_count", {}, self.count
        yield "_sum", {}, self.total
