"""Filters that spare reading: on topic, partition, offset and timestamp.

A filter on the first three is done with when the ranges are cut to it. One on the timestamp can
only move the start: all records before the first that is late enough are too early, but those
after it may be anything. Spark looks at the rows again for whatever is not done with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import eq, ge, gt, le, lt
from typing import Any

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.ranges import OffsetRange

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "EqualTo": eq,
    "EqualNullSafe": eq,
    "GreaterThan": gt,
    "GreaterThanOrEqual": ge,
    "LessThan": lt,
    "LessThanOrEqual": le,
    "In": lambda value, values: value in values,
}
NEVER_NULL = ("topic", "partition", "offset", "timestamp", "timestampType")
FROM_A_TIME_ON = ("EqualTo", "EqualNullSafe", "GreaterThan", "GreaterThanOrEqual")


@dataclass(slots=True)
class Narrowing:
    """What filters leave of a topic."""

    on_partition: list[tuple[str, str, Any]] = field(default_factory=list)
    low: int = 0
    high: int | None = None
    time_ms_min: int | None = None

    def keeps(self, partition: TopicPartition) -> bool:
        """Whether any row of a partition can pass."""
        return all(
            COMPARISONS[kind](getattr(partition, column), value)
            for column, kind, value in self.on_partition
        )

    def cut(self, one: OffsetRange, start_at_time: int | None) -> OffsetRange:
        """What can pass of a range; `start_at_time` is the offset of the earliest time."""
        start = max(one.start, self.low, start_at_time or 0)
        end = one.end if self.high is None else min(one.end, self.high)
        return OffsetRange(one.partition, min(start, one.end), max(end, min(start, one.end)))

    def take(self, filter_: Any) -> bool:
        """Narrow down by a filter; say whether that was all there is to it."""
        kind, path = type(filter_).__name__, getattr(filter_, "attribute", None)
        if path is None or len(path) != 1:
            return False
        column: str = path[0]
        if kind == "IsNotNull":
            return column in NEVER_NULL
        if kind not in COMPARISONS or filter_.value is None:
            return False
        if column in ("topic", "partition"):
            return self._take_partition(column, kind, filter_.value)
        if column == "offset":
            return self._take_offset(kind, filter_.value)
        if column == "timestamp" and kind in FROM_A_TIME_ON:
            self._take_time(filter_.value)
        return False

    def _take_partition(self, column: str, kind: str, value: Any) -> bool:
        wanted = str if column == "topic" else int
        values = value if kind == "In" else (value,)
        if not all(isinstance(one, wanted) for one in values):
            return False
        self.on_partition.append((column, kind, value))
        return True

    def _take_offset(self, kind: str, value: Any) -> bool:
        if kind == "In" or not isinstance(value, int):
            return False
        if kind in ("EqualTo", "EqualNullSafe", "GreaterThanOrEqual"):
            self.low = max(self.low, value)
        if kind == "GreaterThan":
            self.low = max(self.low, value + 1)
        if kind == "LessThan":
            self._end_before(value)
        if kind in ("EqualTo", "EqualNullSafe", "LessThanOrEqual"):
            self._end_before(value + 1)
        return True

    def _end_before(self, offset: int) -> None:
        self.high = offset if self.high is None else min(self.high, offset)

    def _take_time(self, value: Any) -> None:
        if isinstance(value, datetime) and value.tzinfo is not None:
            time_ms = int(value.timestamp() // 0.001)
            self.time_ms_min = max(self.time_ms_min or 0, time_ms - 1)  # Floats round.


def narrow(filters: Sequence[Any]) -> tuple[Narrowing, Iterable[Any]]:
    """What the filters leave, and those that Spark must look at again."""
    narrowing = Narrowing()
    left = [one for one in filters if not narrowing.take(one)]
    return narrowing, left
