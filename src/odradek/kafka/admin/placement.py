"""Which brokers hold the replicas of new partitions.

First replicas go round the brokers from a start that chance gives. The others of a partition
follow at a distance that chance gives too, and that grows by one each time the round is
complete: so what a lost broker led is shared by all that are left. Where brokers have racks they
stand in turns by rack, and no rack gets a second replica of a partition before each has one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count, islice, zip_longest
from typing import NamedTuple

from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.wire.errors import ErrorCode

Assignment = dict[int, list[int]]  # The replicas of each partition; the first is to lead.
Chance = Callable[[int], int]  # Below its argument, from 0.


class Candidate(NamedTuple):
    """A broker that may get replicas."""

    id: int
    rack: str | None = None


def place(
    brokers: Sequence[Candidate],
    partition_count: int,
    replication_factor: int,
    chance: Chance,
    first_partition: int = 0,
) -> Assignment | Refusal:
    """Assign replicas to as many partitions, numbered from the first."""
    if refusal := refuse_counts(partition_count, replication_factor, len(brokers)):
        return refusal
    racks = {broker.id: broker.rack for broker in brokers if broker.rack is not None}
    if racks and len(racks) < len(brokers):
        return Refusal(ErrorCode.UNKNOWN_SERVER_ERROR)
    line = alternated(racks) if racks else [broker.id for broker in brokers]
    start, shift = chance(len(line)), chance(len(line))
    assignment = {}
    for partition in range(first_partition, first_partition + partition_count):
        if partition > 0 and partition % len(line) == 0:
            shift += 1
        first = (partition + start) % len(line)
        others = apart(line, first, shift, racks) if racks else followers(line, first, shift)
        assignment[partition] = [line[first], *islice(others, replication_factor - 1)]
    return assignment


def refuse_counts(partitions: int, factor: int, brokers: int) -> Refusal | None:
    if partitions <= 0:
        reason = "Number of partitions must be larger than 0."
        return Refusal(ErrorCode.INVALID_PARTITIONS, reason)
    if factor <= 0:
        reason = "Replication factor must be larger than 0."
        return Refusal(ErrorCode.INVALID_REPLICATION_FACTOR, reason)
    if factor > brokers:
        reason = f"Replication factor: {factor} larger than available brokers: {brokers}."
        return Refusal(ErrorCode.INVALID_REPLICATION_FACTOR, reason)
    return None


def followers(line: Sequence[int], first: int, shift: int) -> Iterator[int]:
    """The brokers behind the first, from a distance on, round and round without the first."""
    size = len(line)
    return (line[(first + 1 + (shift + place) % (size - 1)) % size] for place in count())


def apart(line: Sequence[int], first: int, shift: int, racks: Mapping[int, str]) -> Iterator[int]:
    """The same, but a rack that has a replica waits until every rack has one."""
    rack_count = len(set(racks.values()))
    taken, racks_taken = {line[first]}, {racks[line[first]]}
    for broker in followers(line, first, shift * rack_count):
        rack = racks[broker]
        if broker in taken or (rack in racks_taken and len(racks_taken) < rack_count):
            continue
        taken.add(broker)
        racks_taken.add(rack)
        yield broker


def alternated(racks: Mapping[int, str]) -> list[int]:
    """The brokers in turns by rack: the first of each rack, the second of each, and so on."""
    by_rack: dict[str, list[int]] = {}
    for broker in sorted(racks):
        by_rack.setdefault(racks[broker], []).append(broker)
    turns = zip_longest(*(by_rack[rack] for rack in sorted(by_rack)))
    return [broker for turn in turns for broker in turn if broker is not None]
