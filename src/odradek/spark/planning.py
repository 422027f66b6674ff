"""How much to read at once, and in how many tasks: arithmetic only.

The rules and their rounding are those of Spark's own connector, so that a query that moves from
one to the other is cut in the same places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import ceil, floor

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.ranges import OffsetRange
from odradek.spark.offsets import Offsets


def split_ranges(
    ranges: Iterable[OffsetRange], partitions_min: int | None, records_max: int | None
) -> list[OffsetRange]:
    """The ranges that are not empty, cut so that each has few enough and there are many enough."""
    parts = [one for one in ranges if _size(one) > 0]
    if records_max is not None:
        parts = [cut for one in parts for cut in _divide(one, ceil(_size(one) / records_max))]
    if partitions_min is not None and partitions_min > len(parts):
        parts = _divide_large(parts, partitions_min)
    return parts


def group_ranges(ranges: Iterable[OffsetRange], records_min: int | None) -> list[list[OffsetRange]]:
    """The ranges that share a task: neighbours, until they have enough records for one.

    Starting a task costs Spark as much as reading thousands of records. But a task may do more
    than read, so nothing is put together unless that is asked for.
    """
    groups: list[list[OffsetRange]] = []
    size = 0
    for one in ranges:
        is_there = groups and any(other.partition == one.partition for other in groups[-1])
        if not groups or is_there or size >= (records_min or 0):
            groups.append([])
            size = 0
        groups[-1].append(one)
        size += _size(one)
    return groups


def _divide_large(ranges: list[OffsetRange], partitions_min: int) -> list[OffsetRange]:
    """Cut those that are large beside the others; the small ones stay out of the sums."""
    total = sum(map(_size, ranges))
    small = [one for one in ranges if _part_count(_size(one), total, partitions_min) == 1]
    left_whole = {one.partition for one in small}
    total_of_large = total - sum(map(_size, small))
    parts_of_large = max(partitions_min - len(small), 1)
    parts: list[OffsetRange] = []
    for one in ranges:
        count = 1
        if one.partition not in left_whole:
            count = _part_count(_size(one), total_of_large, parts_of_large)
        parts += _divide(one, count)
    return parts


def _divide(one: OffsetRange, count: int) -> Iterator[OffsetRange]:
    start, remaining = one.start, _size(one)
    for parts_left in range(count, 0, -1):
        size = remaining // parts_left  # The last takes what rounding left over.
        remaining -= size
        if size:
            yield OffsetRange(one.partition, start, start + size)
        start += size


def _part_count(size: int, total: int, partitions_min: int) -> int:
    return max(floor(size / total * partitions_min + 0.5), 1)


def _size(one: OffsetRange) -> int:
    return one.end - one.start


def limit_rate(rows_max: int, start: Mapping[TopicPartition, int], end: Offsets) -> Offsets:
    """An earlier end: no more than so many offsets, in proportion to what each partition has.

    A share below one is rounded up, for otherwise small partitions would never have their turn.
    """
    backlog = {p: end[p] - start[p] for p in end if p in start and end[p] > start[p]}
    total = sum(backlog.values())
    if total < 1:
        return end
    limited = dict(end)
    for partition, size in backlog.items():
        share = rows_max * (size / total)
        step = ceil(share) if share < 1 else floor(share)
        limited[partition] = min(end[partition], start[partition] + step)
    return limited


def count_new(start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int]) -> int:
    """How many offsets there are between the two."""
    return sum(offset - start.get(partition, 0) for partition, offset in end.items())
