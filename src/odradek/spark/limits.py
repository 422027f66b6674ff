"""Where a read starts or ends: a word, an offset for each partition, a time, or a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from odradek.kafka.client.errors import TopicPartition


class Bound(Enum):
    """An end of each partition."""

    EARLIEST = -2
    LATEST = -1


@dataclass(frozen=True, slots=True)
class SpecificOffsets:
    """An offset for each partition; -2 and -1 stand for its ends."""

    offsets: Mapping[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class SpecificTimes:
    """A time for each partition: the first record that is at least that late."""

    times_ms: Mapping[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class GlobalTime:
    """One time for all partitions."""

    time_ms: int


@dataclass(frozen=True, slots=True)
class Committed:
    """What a group has committed; where it has not, an end of the partition."""

    group_id: str
    otherwise: Bound


Limit = Committed | Bound | SpecificOffsets | SpecificTimes | GlobalTime
