"""LeaderAndIsr (key 4, versions 0-7): which replicas this broker leads and follows from now on.

Until version 1 partitions come one by one, then by topic; from version 5 on the answer names topics
by id. A topic's config is read before its first log is begun.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import NamedTuple

from odradek.kafka.api.orders import refuse_order
from odradek.kafka.broker.broker import Broker
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
)
from odradek.kafka.wire.schema import ZERO_UUID
from odradek.zookeeper.client.errors import ZooKeeperError

ANSWERED_BY_ID = 5
SLICE = 64  # Logs are begun so many at a time; the loop is left to others in between.


class Ordered(NamedTuple):
    """A partition's state, whatever the version that brought it."""

    topic: str
    topic_id: bytes
    state: LeaderAndIsrPartitionState


async def leader_and_isr(
    message: LeaderAndIsrRequest, request: Request, broker: Broker
) -> LeaderAndIsrResponse:
    if error := refuse_order(broker, message.controller_epoch, message.broker_epoch):
        return LeaderAndIsrResponse(error_code=error, partition_errors=[], topics=[])
    orders = list(all_orders(message))
    await learn_topics(broker, orders)
    errors: list[ErrorCode] = []
    for position, order in enumerate(orders):
        errors.append(obey(broker, order))
        if position % SLICE == SLICE - 1:
            await asyncio.sleep(0)
    return answer(orders, errors, request.version)


def all_orders(message: LeaderAndIsrRequest) -> Iterable[Ordered]:
    for state in message.ungrouped_partition_states:
        yield Ordered(state.topic_name, ZERO_UUID, state)
    for topic in message.topic_states:
        for state in topic.partition_states:
            yield Ordered(topic.topic_name, topic.topic_id, state)


async def learn_topics(broker: Broker, orders: list[Ordered]) -> None:
    configs = broker.configs
    wanted = {
        it.topic: None for it in orders if it.state.is_new or not configs.knows_topic(it.topic)
    }
    try:
        await configs.learn_topics(wanted)
    except ZooKeeperError as error:
        # With the next session everything is read again; the order cannot wait for that.
        broker.note.warning("the configs of %s are not known yet: %s", list(wanted), error)


def obey(broker: Broker, order: Ordered) -> ErrorCode:
    topic, topic_id, state = order
    if state.leader == broker.id:
        return broker.partitions.lead(state, topic, topic_id)
    if broker.id not in state.replicas:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return broker.partitions.follow(state, topic, topic_id)


def answer(orders: list[Ordered], errors: list[ErrorCode], version: int) -> LeaderAndIsrResponse:
    by_topic: dict[bytes, list[LeaderAndIsrPartitionError]] = {}
    listed = []
    for order, error in zip(orders, errors, strict=True):
        told = LeaderAndIsrPartitionError(
            topic_name=order.topic if version < ANSWERED_BY_ID else "",
            partition_index=order.state.partition_index,
            error_code=error,
        )
        listed.append(told)
        by_topic.setdefault(order.topic_id, []).append(told)
    if version < ANSWERED_BY_ID:
        return LeaderAndIsrResponse(error_code=ErrorCode.NONE, partition_errors=listed, topics=[])
    topics = [
        LeaderAndIsrTopicError(topic_id=topic_id, partition_errors=told)
        for topic_id, told in by_topic.items()
    ]
    return LeaderAndIsrResponse(error_code=ErrorCode.NONE, partition_errors=[], topics=topics)
