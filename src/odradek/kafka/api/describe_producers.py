"""DescribeProducers (key 61, version 0): the producers that partitions remember."""

from __future__ import annotations

from odradek.kafka.admin.names import refuse_name
from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.broker.broker import Broker
from odradek.kafka.storage.producers import Producer
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from odradek.kafka.wire.messages.describe_producers import TopicRequest as Topic


async def describe_producers(
    message: DescribeProducersRequest, request: Request, broker: Broker
) -> DescribeProducersResponse:
    topics = [
        TopicResponse(name=it.name, partitions=describe_topic(it, broker)) for it in message.topics
    ]
    return DescribeProducersResponse(throttle_time_ms=0, topics=topics)


def describe_topic(topic: Topic, broker: Broker) -> list[PartitionResponse]:
    refusal = refuse_name(topic.name)
    if refusal is None and topic.name not in broker.metadata.topics:
        reason = f"There is no topic {topic.name}."
        refusal = Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, reason)
    if refusal is not None:
        return [failed(index, *refusal) for index in topic.partition_indexes]
    return [describe_partition(topic.name, index, broker) for index in topic.partition_indexes]


def describe_partition(topic: str, index: int, broker: Broker) -> PartitionResponse:
    """Followers answer too, with what they know."""
    partition = broker.partitions.get(topic, index)
    if partition is None:
        return failed(index, broker.partitions.absence(topic, index))
    producers = partition.log.producers.known.values()
    return PartitionResponse(
        partition_index=index,
        error_code=ErrorCode.NONE,
        active_producers=[describe_producer(it) for it in producers],
    )


def failed(index: int, code: ErrorCode, message: str | None = None) -> PartitionResponse:
    return PartitionResponse(
        partition_index=index, error_code=code, error_message=message, active_producers=[]
    )


def describe_producer(it: Producer) -> ProducerState:
    return ProducerState(
        producer_id=it.producer_id,
        producer_epoch=it.epoch,
        last_sequence=it.last_sequence,
        last_timestamp=it.timestamp,
        coordinator_epoch=it.coordinator_epoch,
        current_txn_start_offset=it.first_offset,
    )
