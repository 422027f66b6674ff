"""CreatePartitions (key 37, versions 0-3): give topics more partitions.

Whoever asks says how many there are to be in all, and may say where the new ones go. The answer
waits until each has a leader.
"""

from __future__ import annotations

from collections import Counter

from odradek.kafka.admin.partitions import decide_partitions
from odradek.kafka.admin.placement import Assignment
from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.api.create_topics import TOO_MANY, is_led, live_brokers, until_led
from odradek.kafka.broker import topics as znodes
from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.throttling import Mutations
from odradek.kafka.controller import paths
from odradek.kafka.controller.znodes import BadZnode
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from odradek.zookeeper.client.errors import ZooKeeperError

STRICT_SINCE = 3  # Who changes too much gets an error.


async def create_partitions(
    message: CreatePartitionsRequest, request: Request, broker: Broker
) -> CreatePartitionsResponse:
    names = dict.fromkeys(it.name for it in message.topics)
    if not broker.controller.is_active:
        return response(dict.fromkeys(names, Refusal(ErrorCode.NOT_CONTROLLER)))
    mutations = broker.throttling.mutations(request, STRICT_SINCE)
    times = Counter(it.name for it in message.topics)
    outcomes: dict[str, Assignment | Refusal] = {}
    for topic in message.topics:
        if times[topic.name] > 1:
            reason = "Duplicate topic in request."
            outcomes[topic.name] = Refusal(ErrorCode.INVALID_REQUEST, reason)
        else:
            outcomes[topic.name] = await grow(
                topic, broker, mutations, validate_only=message.validate_only
            )
    if not message.validate_only:
        await mark_late(outcomes, message.timeout_ms, broker)
    return response(outcomes, mutations.throttle_time_ms if mutations else 0)


async def grow(
    topic: CreatePartitionsTopic,
    broker: Broker,
    mutations: Mutations | None,
    *,
    validate_only: bool,
) -> Assignment | Refusal:
    """Decide upon one topic's new partitions, and write them."""
    try:
        if await broker.keeper.read(paths.topic_to_delete(topic.name)) is not None:
            reason = "The topic is queued for deletion."
            return Refusal(ErrorCode.INVALID_TOPIC_EXCEPTION, reason)
        node = await znodes.read_topic_node(broker.keeper, topic.name)
        kept = node.partitions if node is not None else {}
        decided = decide_partitions(
            topic,
            {index: it.replicas for index, it in kept.items()},
            live_brokers(broker),
            is_reassigned=any(it.is_being_reassigned for it in kept.values()),
        )
        if isinstance(decided, Refusal) or validate_only:
            return decided
        if mutations and not mutations.may_change(len(decided)):
            return Refusal(ErrorCode.THROTTLING_QUOTA_EXCEEDED, TOO_MANY)
        code = await znodes.add_partitions(broker.keeper, topic.name, decided)
    except (ZooKeeperError, BadZnode) as error:
        broker.note.warning("topic %s does not grow: %s", topic.name, error)
        return Refusal(ErrorCode.UNKNOWN_SERVER_ERROR)
    return Refusal(code) if code else decided


async def mark_late(
    outcomes: dict[str, Assignment | Refusal], timeout_ms: int, broker: Broker
) -> None:
    """Wait for leaders; who lacks some when the time is over is late."""
    new = {name: it for name, it in outcomes.items() if not isinstance(it, Refusal)}
    if new and timeout_ms > 0:
        waiting = [(name, index) for name, indexes in new.items() for index in indexes]
        await until_led(broker, waiting, timeout_ms)
    for name, indexes in new.items():
        if timeout_ms <= 0 or not all(is_led(broker, name, index) for index in indexes):
            outcomes[name] = Refusal(ErrorCode.REQUEST_TIMED_OUT)


def response(
    outcomes: dict[str, Assignment | Refusal], throttle_time_ms: int = 0
) -> CreatePartitionsResponse:
    done = Refusal(ErrorCode.NONE)
    codes = {name: it if isinstance(it, Refusal) else done for name, it in outcomes.items()}
    return CreatePartitionsResponse(
        throttle_time_ms=throttle_time_ms,
        results=[
            CreatePartitionsTopicResult(name=name, error_code=it.code, error_message=it.message)
            for name, it in codes.items()
        ],
    )
