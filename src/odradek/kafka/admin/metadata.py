"""What a client is told of topics, seen from the listener that it came by.

A leader that is down, or has no such listener, is no leader to this client. Version 0 leaves out
replicas that the client could not reach and says so; later ones list them and let it find out.
Before version 6 a missing listener looked like a missing leader.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import NamedTuple

from odradek.kafka.admin.names import is_internal
from odradek.kafka.admin.operations import NOT_ASKED
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.metadata import (
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from odradek.kafka.wire.messages.update_metadata import UpdateMetadataPartitionState
from odradek.kafka.wire.schema import ZERO_UUID

NO_LEADER = -1
LISTENER_NOT_FOUND_SINCE = 6


class Seen(NamedTuple):
    """The brokers as one listener's clients see them."""

    alive: Container[int]
    reachable: Container[int]  # Those that have this listener.
    version: int

    @classmethod
    def by(cls, version: int, alive: Container[int], reachable: Container[int]) -> Seen:
        """Versions that see the same are the same."""
        alike = 0 if version == 0 else 1 if version < LISTENER_NOT_FOUND_SINCE else version
        return cls(alive, reachable, min(alike, LISTENER_NOT_FOUND_SINCE))


def topic_reply(
    name: str,
    topic_id: bytes,
    partitions: Iterable[UpdateMetadataPartitionState],
    seen: Seen,
    operations: int = NOT_ASKED,
) -> MetadataResponseTopic:
    """A topic that there is."""
    return MetadataResponseTopic(
        error_code=ErrorCode.NONE,
        name=name,
        topic_id=topic_id,
        is_internal=is_internal(name),
        partitions=[partition_reply(state, seen) for state in partitions],
        topic_authorized_operations=operations,
    )


def missing_topic(
    name: str | None,
    code: ErrorCode,
    topic_id: bytes = ZERO_UUID,
    operations: int = NOT_ASKED,
) -> MetadataResponseTopic:
    """A topic that there is not, or not yet."""
    return MetadataResponseTopic(
        error_code=code,
        name=name,
        topic_id=topic_id,
        is_internal=name is not None and is_internal(name),
        partitions=[],
        topic_authorized_operations=operations,
    )


def partition_reply(state: UpdateMetadataPartitionState, seen: Seen) -> MetadataResponsePartition:
    replicas, isr = state.replicas, state.isr
    if seen.version == 0:
        replicas = [it for it in replicas if it in seen.reachable]
        isr = [it for it in isr if it in seen.reachable]
    code = leader_error(state.leader, seen)
    leader = state.leader if code is ErrorCode.NONE else NO_LEADER
    is_less = len(replicas) < len(state.replicas) or len(isr) < len(state.isr)
    if code is ErrorCode.NONE and is_less:
        code = ErrorCode.REPLICA_NOT_AVAILABLE
    return MetadataResponsePartition(
        error_code=code,
        partition_index=state.partition_index,
        leader_id=leader,
        leader_epoch=state.leader_epoch,
        replica_nodes=replicas,
        isr_nodes=isr,
        offline_replicas=state.offline_replicas,
    )


def leader_error(leader: int, seen: Seen) -> ErrorCode:
    if leader in seen.reachable:
        return ErrorCode.NONE
    if leader not in seen.alive or seen.version < LISTENER_NOT_FOUND_SINCE:
        return ErrorCode.LEADER_NOT_AVAILABLE
    return ErrorCode.LISTENER_NOT_FOUND
