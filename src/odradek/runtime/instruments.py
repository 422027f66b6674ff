"""What counts and measures: plain objects, cheap enough for every request.

All are used on their node's loop, so nothing is locked; work in the executor hands its figures
back to the loop.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import ClassVar

Sample = tuple[str, dict[str, str], float]  # A suffix of the name, labels of its own, the value.


class Instrument(ABC):
    """One thing that counts or measures; `kind` is Prometheus's word for it."""

    __slots__ = ()
    kind: ClassVar[str]

    @abstractmethod
    def samples(self) -> Iterator[Sample]: ...


class Counter(Instrument):
    """Only grows. The hottest paths may add to `value` themselves and save the call."""

    __slots__ = ("value",)
    kind = "counter"

    def __init__(self) -> None:
        self.value: float = 0

    def add(self, amount: float = 1) -> None:
        self.value += amount

    def samples(self) -> Iterator[Sample]:
        yield "", {}, self.value


class Gauge(Instrument):
    """Goes up and down: set `value`."""

    __slots__ = ("value",)
    kind = "gauge"

    def __init__(self) -> None:
        self.value: float = 0

    def samples(self) -> Iterator[Sample]:
        yield "", {}, self.value


class Summary(Instrument):
    """How many and how much, hence the mean."""

    __slots__ = ("count", "total")
    kind = "summary"

    def __init__(self) -> None:
        self.count = 0
        self.total: float = 0

    def observe(self, value: float) -> None:
        self.count += 1
        self.total += value

    def samples(self) -> Iterator[Sample]:
        yield "_count", {}, self.count
        yield "_sum", {}, self.total


class Histogram(Instrument):
    """How many up to and including each bound, hence quantiles."""

    __slots__ = ("bounds", "counts", "total")
    kind = "histogram"

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)  # The last is for all beyond the last bound.
        self.total: float = 0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def samples(self) -> Iterator[Sample]:
        so_far = 0
        for bound, count in zip((*map(str, self.bounds), "+Inf"), self.counts, strict=True):
            so_far += count
            yield "_bucket", {"le": bound}, so_far
        yield "_count", {}, so_far
        yield "_sum", {}, self.total
