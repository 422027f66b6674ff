"""Whether a topic may have more partitions, and where these would be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from odradek.kafka.admin.placement import Assignment, Candidate, place
from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.create_partitions import CreatePartitionsTopic


def decide_partitions(
    topic: CreatePartitionsTopic,
    existing: Mapping[int, Sequence[int]],
    brokers: Sequence[Candidate],
    *,
    is_reassigned: bool,
) -> Assignment | Refusal:
    """Say what the new partitions would be; `existing` is empty for a topic that is not."""
    if is_reassigned:
        reason = f"A partition reassignment is in progress for the topic '{topic.name}'."
        return Refusal(ErrorCode.REASSIGNMENT_IN_PROGRESS, reason)
    if not existing:
        reason = f"The topic '{topic.name}' does not exist."
        return Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, reason)
    if refusal := refuse_count(len(existing), topic.count):
        return refusal
    if 0 not in existing:
        return Refusal(ErrorCode.UNKNOWN_SERVER_ERROR)
    added = topic.count - len(existing)
    if topic.assignments is None:
        start = place_of(existing[0][0], brokers)
        return place(brokers, added, len(existing[0]), lambda _: start, len(existing))
    given = [list(it.broker_ids) for it in topic.assignments]
    assignment = {len(existing) + place: replicas for place, replicas in enumerate(given)}
    known = [broker.id for broker in brokers]
    refusal = refuse_given(assignment, added, known) or refuse_factors(assignment, existing)
    return refusal or assignment


def refuse_count(before: int, after: int) -> Refusal | None:
    if after < before:
        reason = f"Topic currently has {before} partitions, which is higher than the requested "
        return Refusal(ErrorCode.INVALID_PARTITIONS, f"{reason}{after}.")
    if after == before:
        reason = f"Topic already has {before} partitions."
        return Refusal(ErrorCode.INVALID_PARTITIONS, reason)
    return None


def place_of(leader: int, brokers: Sequence[Candidate]) -> int:
    """Where the round of first replicas goes on: at the first partition's, or the next alive."""
    places = (place for place, broker in enumerate(brokers) if broker.id >= leader)
    return next(places, 0)


def refuse_given(assignment: Assignment, added: int, known: Sequence[int]) -> Refusal | None:
    """What is wrong with replicas that were assigned by hand."""
    reason = ""
    unknown = sorted({it for replicas in assignment.values() for it in replicas} - set(known))
    if unknown:
        reason = f"Unknown broker(s) in replica assignment: {', '.join(map(str, unknown))}."
    elif len(assignment) != added:
        reason = f"Increasing the number of partitions by {added} but {len(assignment)} "
        reason += "assignments provided."
    for partition, replicas in assignment.items():
        if not replicas:
            reason = reason or f"Cannot have replication factor of 0 for partition id {partition}."
        elif len(set(replicas)) < len(replicas):
            reason = reason or f"Duplicate brokers {replicas} for partition id {partition}."
    return Refusal(ErrorCode.INVALID_REPLICA_ASSIGNMENT, reason) if reason else None


def refuse_factors(assignment: Assignment, existing: Mapping[int, Sequence[int]]) -> Refusal | None:
    factor = len(existing[0])
    others = {place: len(it) for place, it in assignment.items() if len(it) != factor}
    if not others:
        return None
    reason = (
        f"Inconsistent replication factor between partitions: partition 0 has {factor}, "
        f"partitions {sorted(others)} have {[others[place] for place in sorted(others)]}."
    )
    return Refusal(ErrorCode.INVALID_REPLICA_ASSIGNMENT, reason)
