"""Messages of a partition: from an offset, from a time, the last ones, those after.

All functions block: they are for the threads of `kafka_side`. Nothing is committed and no group is
joined, so that to look changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from odradek.console.decoding import Form, shown
from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.fetcher import OffsetRange
from odradek.kafka.client.offsets import EARLIEST, LATEST, list_offsets
from odradek.kafka.client.records_in import read_ranges
from odradek.kafka.wire.records import Record

SEARCHED_MAX = 20_000  # Records that a filter may skip before it gives up.


@dataclass(frozen=True, slots=True)
class Extent:
    """What the log holds of a partition."""

    first: int
    end: int

    @property
    def count(self) -> int:
        return self.end - self.first


@dataclass(frozen=True, slots=True)
class Slice:
    """Messages from somewhere on, and where to go on from."""

    extent: Extent
    records: list[Record]
    next_offset: int


def extents(cluster: Cluster, topic: str) -> dict[int, Extent]:
    """The extent of each partition that is led."""
    cluster.refresh([topic])
    partitions = [it for it in cluster.partitions_of([topic]) if cluster.leader_of(it)]
    first = list_offsets(cluster, dict.fromkeys(partitions, EARLIEST))
    end = list_offsets(cluster, dict.fromkeys(partitions, LATEST))
    return {it.partition: Extent(first[it] or 0, end[it] or 0) for it in partitions}


def extent_of(cluster: Cluster, where: TopicPartition) -> Extent:
    first = list_offsets(cluster, {where: EARLIEST})[where]
    end = list_offsets(cluster, {where: LATEST})[where]
    return Extent(first or 0, end or 0)


def read_from(
    cluster: Cluster, where: TopicPartition, offset: int, count: int, wanted: str = ""
) -> Slice:
    """Messages from an offset on; a negative one counts from the end."""
    extent = extent_of(cluster, where)
    start = extent.end + offset if offset < 0 else offset
    start = min(max(start, extent.first), extent.end)
    found, next_offset = gathered(cluster, OffsetRange(where, start, extent.end), count, wanted)
    return Slice(extent, found, next_offset)


def read_since(
    cluster: Cluster, where: TopicPartition, time_ms: int, count: int, wanted: str = ""
) -> Slice:
    """Messages from a time on."""
    offset = list_offsets(cluster, {where: time_ms})[where]
    end = extent_of(cluster, where).end
    return read_from(cluster, where, end if offset is None else offset, count, wanted)


def gathered(
    cluster: Cluster, wanted_range: OffsetRange, count: int, wanted: str
) -> tuple[list[Record], int]:
    """Up to so many records, and the offset behind the last that was looked at."""
    found: list[Record] = []
    folded = wanted.casefold()
    for looked_at, (_, record) in enumerate(read_ranges(cluster, [wanted_range]), 1):
        if not folded or is_match(record, folded):
            found.append(record)
        if len(found) == count or looked_at == SEARCHED_MAX:
            return found, record.offset + 1
    return found, max(wanted_range.start, wanted_range.end)


def is_match(record: Record, folded: str) -> bool:
    """Whether a text, in small letters, stands in the key, the value or a header."""
    parts = [record.key, record.value]
    for name, value in record.headers:
        parts += [name.encode(), value]
    return any(folded in it.decode(errors="replace").casefold() for it in parts if it)


def told(record: Record, form: Form) -> dict[str, Any]:
    """A record as an export has it."""
    return {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": None if record.key is None else shown(record.key, form),
        "value": None if record.value is None else shown(record.value, form),
        "headers": [
            [name, None if value is None else shown(value, form)] for name, value in record.headers
        ],
    }
