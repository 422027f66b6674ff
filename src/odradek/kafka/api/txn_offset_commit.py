"""TxnOffsetCommit (key 28, versions 0-4): offsets of a group that count when a transaction commits.

Before the first of a transaction its coordinator is asked whether it knows that offsets belong to
it. v3 says which member of the group commits; v4 knows TRANSACTION_ABORTABLE.
"""

from __future__ import annotations

from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.group_shards import GroupShard
from odradek.kafka.broker.group_topics import Errors, errors_of, unknown_partitions, without
from odradek.kafka.coordinator.group_errors import commit_error
from odradek.kafka.coordinator.offsets_answers import txn_commit_response
from odradek.kafka.coordinator.shard import Shard, Status
from odradek.kafka.coordinator.txn_errors import of_verification
from odradek.kafka.coordinator.txn_state import Claim
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.storage.producers import Verification
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
)

KNOWS_ABORTABLE = 4
BY_COORDINATOR = -1  # The sequence of what a coordinator writes in a producer's name.


async def txn_offset_commit(
    message: TxnOffsetCommitRequest, request: Request, broker: Broker
) -> TxnOffsetCommitResponse:
    version = request.version
    unknown = unknown_partitions(broker.metadata, message.topics)
    known = known_part(message, unknown)
    if not known.topics:
        return txn_commit_response(unknown, version)
    groups = broker.coordinators.groups
    found = groups.find(message.group_id)
    verification = verification_of(broker, found, message)
    if verification is not None and found is not None:
        code = await verify(broker, message, found.partition.where)
        if code:
            known_to = of_verification(code, knows_abortable=version >= KNOWS_ABORTABLE)
            return refuse(known, commit_error(known_to), unknown, version)
    response = await groups.ask(
        message.group_id,
        Shard.handle_txn_offset_commit,
        known,
        version,
        TxnOffsetCommitResponse,
        verification,
    )
    return txn_commit_response(unknown | errors_of(response.topics), version)


def known_part(message: TxnOffsetCommitRequest, unknown: Errors) -> TxnOffsetCommitRequest:
    return TxnOffsetCommitRequest(
        transactional_id=message.transactional_id,
        group_id=message.group_id,
        producer_id=message.producer_id,
        producer_epoch=message.producer_epoch,
        generation_id=message.generation_id,
        member_id=message.member_id,
        group_instance_id=message.group_instance_id,
        topics=without(message.topics, unknown),
    )


def verification_of(
    broker: Broker, found: GroupShard | None, message: TxnOffsetCommitRequest
) -> Verification | None:
    """What must be asked before anything is appended; None if nothing is."""
    if found is None or found.shard.status is not Status.ACTIVE:
        return None
    log = found.partition.log
    if not log.settings.is_transaction_verified:
        return None
    named = message.producer_id, message.producer_epoch, BY_COORDINATOR
    return log.producers.verification(*named, broker.clock())


async def verify(
    broker: Broker, message: TxnOffsetCommitRequest, where: TopicPartition
) -> ErrorCode:
    claim = Claim(message.transactional_id, message.producer_id, message.producer_epoch)
    return (await broker.coordinators.verifier.verify(claim, [where]))[where]


def refuse(
    message: TxnOffsetCommitRequest, error: ErrorCode, unknown: Errors, version: int
) -> TxnOffsetCommitResponse:
    refused = {
        TopicPartition(topic.name, each.partition_index): error
        for topic in message.topics
        for each in topic.partitions
    }
    return txn_commit_response(unknown | refused, version)
