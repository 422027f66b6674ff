"""OffsetCommit (key 8, versions 0-9): a group writes down how far it has come.

Answered once the offsets are as safe as offsets.commit.required.acks demands. Version 0 knows no
coordinator: its offsets go to ZooKeeper.
"""

from __future__ import annotations

from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.group_topics import Errors, errors_of, unknown_partitions, without
from odradek.kafka.broker.group_zookeeper import write_offset
from odradek.kafka.coordinator.offsets_answers import commit_response
from odradek.kafka.coordinator.offsets_commit import java_length
from odradek.kafka.coordinator.shard import Shard
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse


async def offset_commit(
    message: OffsetCommitRequest, request: Request, broker: Broker
) -> OffsetCommitResponse:
    unknown = unknown_partitions(broker.metadata, message.topics)
    known = known_part(message, unknown) if unknown else message
    if not known.topics:
        return commit_response(unknown)
    if request.version == 0:
        return commit_response(unknown | await commit_to_zookeeper(known, broker))
    response = await broker.coordinators.groups.ask(
        message.group_id, Shard.handle_offset_commit, known, request.version, OffsetCommitResponse
    )
    return commit_response(unknown | errors_of(response.topics)) if unknown else response


def known_part(message: OffsetCommitRequest, unknown: Errors) -> OffsetCommitRequest:
    return OffsetCommitRequest(
        group_id=message.group_id,
        generation_id_or_member_epoch=message.generation_id_or_member_epoch,
        member_id=message.member_id,
        group_instance_id=message.group_instance_id,
        retention_time_ms=message.retention_time_ms,
        topics=without(message.topics, unknown),
    )


async def commit_to_zookeeper(message: OffsetCommitRequest, broker: Broker) -> Errors:
    errors: Errors = {}
    length_max = broker.settings.offset_metadata_max_bytes
    for topic in message.topics:
        for each in topic.partitions:
            where = TopicPartition(topic.name, each.partition_index)
            if java_length(each.committed_metadata or "") > length_max:
                errors[where] = ErrorCode.OFFSET_METADATA_TOO_LARGE
            else:
                errors[where] = await write_offset(
                    broker.keeper, message.group_id, where, each.committed_offset
                )
    return errors
