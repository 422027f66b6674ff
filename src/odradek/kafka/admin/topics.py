"""Whether a topic may be created, and what it would be.

The reasons are looked for in Kafka's order, for a client is told only the first.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from odradek.kafka.admin.names import colliding, refuse_name
from odradek.kafka.admin.placement import Assignment, Candidate, Chance, place
from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.settings.alterations import Refused
from odradek.kafka.settings.layers import Layers
from odradek.kafka.settings.topic_alterations import decide_topic_settings
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.create_topics import CreatableTopic

AS_THE_BROKER_SAYS = -1


class NewTopic(NamedTuple):
    """A topic as it would be."""

    name: str
    assignment: Assignment
    overrides: dict[str, str]


class Existing(NamedTuple):
    """What there is already; the caller adds what it creates."""

    topics: set[str]
    doomed: Collection[str]  # Being deleted: brokers may have forgotten them already.
    brokers: Sequence[Candidate]


def decide_topic(
    topic: CreatableTopic, layers: Layers, existing: Existing, chance: Chance
) -> NewTopic | Refusal:
    """Say what this topic would be. Changes nothing."""
    if topic.name in existing.topics:
        return already_exists(topic.name)
    if refusal := refuse_request(topic):
        return refusal
    assignment = assigned(topic, layers, existing.brokers, chance)
    if isinstance(assignment, Refusal):
        return assignment
    overrides = {it.name: it.value or "" for it in topic.configs}
    refusal = (
        refuse_name(topic.name)
        or refuse_existing(topic.name, existing)
        or refuse_assignment(assignment)
        or refuse_overrides(layers, overrides)
    )
    return refusal or NewTopic(topic.name, assignment, overrides)


def already_exists(name: str) -> Refusal:
    return Refusal(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")


def refuse_request(topic: CreatableTopic) -> Refusal | None:
    """What is wrong with the request itself."""
    nulls = [it.name for it in topic.configs if it.value is None]
    if nulls:
        reason = f"Null value not supported for topic configs: {','.join(nulls)}"
        return Refusal(ErrorCode.INVALID_CONFIG, reason)
    counts = (topic.num_partitions, topic.replication_factor)
    if topic.assignments and counts != (AS_THE_BROKER_SAYS, AS_THE_BROKER_SAYS):
        reason = "Replicas are assigned by hand, so neither their number nor partitions' may be set"
        return Refusal(ErrorCode.INVALID_REQUEST, reason)
    return None


def assigned(
    topic: CreatableTopic, layers: Layers, brokers: Sequence[Candidate], chance: Chance
) -> Assignment | Refusal:
    """The replicas as they were asked for, or as we place them."""
    if topic.assignments:
        return {it.partition_index: list(it.broker_ids) for it in topic.assignments}
    partitions, factor = topic.num_partitions, topic.replication_factor
    if partitions == AS_THE_BROKER_SAYS:
        partitions = layers.broker.num_partitions
    if factor == AS_THE_BROKER_SAYS:
        factor = layers.broker.default_replication_factor
    return place(brokers, partitions, factor, chance)


def refuse_existing(name: str, existing: Existing) -> Refusal | None:
    if name in existing.doomed:
        reason = f"Topic '{name}' is marked for deletion."
        return Refusal(ErrorCode.TOPIC_ALREADY_EXISTS, reason)
    if others := colliding(name, existing.topics):
        reason = f"Topic '{name}' collides with existing topics: {', '.join(others)}"
        return Refusal(ErrorCode.INVALID_TOPIC_EXCEPTION, reason)
    return None


def refuse_assignment(assignment: Assignment) -> Refusal | None:
    """Partitions are numbered from 0 without a gap, and each has as many replicas."""
    reason = ""
    if len({len(replicas) for replicas in assignment.values()}) != 1:
        reason = "All partitions should have the same number of replicas"
    elif any(len(set(replicas)) < len(replicas) for replicas in assignment.values()):
        reason = f"A broker is assigned twice to one partition: {assignment}"
    elif sorted(assignment) != list(range(len(assignment))):
        reason = "Partitions should be numbered from 0 without a gap"
    return Refusal(ErrorCode.INVALID_REPLICA_ASSIGNMENT, reason) if reason else None


def refuse_overrides(layers: Layers, overrides: dict[str, str]) -> Refusal | None:
    settings = decide_topic_settings(layers, overrides)
    if isinstance(settings, Refused):
        return Refusal(ErrorCode(settings.code), settings.message)
    return None
