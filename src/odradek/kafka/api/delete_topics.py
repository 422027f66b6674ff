"""DeleteTopics (key 20, versions 0-6): ask the controller to delete topics, and wait until it has.

v3 has an error of its own for `delete.topic.enable=false`; v5 has one for who changes
too much; v6 takes ids as well as names.
"""

from __future__ import annotations

import asyncio

from odradek.kafka.broker import topics as znodes
from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.throttling import Mutations
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from odradek.kafka.wire.schema import ZERO_UUID
from odradek.zookeeper.client.errors import ZooKeeperError

DISABLED_SINCE = 3
STRICT_SINCE = 5
BY_ID_SINCE = 6


async def delete_topics(
    message: DeleteTopicsRequest, request: Request, broker: Broker
) -> DeleteTopicsResponse:
    asked = topics_of(message, request.version)
    if code := refuse_all(asked, request.version, broker):
        return DeleteTopicsResponse(responses=[reply(it, it.name, code) for it in asked])
    names = [name_of(it, broker) for it in asked]
    there = [it for it in dict.fromkeys(names) if it is not None and it in broker.metadata.topics]
    mutations = broker.throttling.mutations(request, STRICT_SINCE)
    refused = [it for it in there if mutations and not may_delete(it, mutations, broker)]
    wanted = [it for it in there if it not in refused]
    asks = (ask_for_deletion(it, broker) for it in wanted)
    codes = dict(zip(wanted, await asyncio.gather(*asks), strict=True))
    codes |= dict.fromkeys(refused, ErrorCode.THROTTLING_QUOTA_EXCEEDED)
    begun = [name for name, code in codes.items() if code is ErrorCode.NONE]
    late = await still_there(begun, message.timeout_ms, broker)
    codes |= dict.fromkeys(late, ErrorCode.REQUEST_TIMED_OUT)
    return DeleteTopicsResponse(
        throttle_time_ms=mutations.throttle_time_ms if mutations else 0,
        responses=[
            reply(topic, name, codes.get(name or "", absent(topic)))
            for topic, name in zip(asked, names, strict=True)
        ],
    )


def may_delete(name: str, mutations: Mutations, broker: Broker) -> bool:
    return mutations.may_change(len(broker.metadata.topics[name]))


def topics_of(message: DeleteTopicsRequest, version: int) -> list[DeleteTopicState]:
    if version >= BY_ID_SINCE:
        return message.topics
    return [DeleteTopicState(name=name, topic_id=ZERO_UUID) for name in message.topic_names]


def refuse_all(asked: list[DeleteTopicState], version: int, broker: Broker) -> ErrorCode:
    """Why nothing at all is deleted; NONE if something may be."""
    if not broker.controller.is_active:
        return ErrorCode.NOT_CONTROLLER
    if not broker.settings.delete_topic_enable:
        is_known = version >= DISABLED_SINCE
        return ErrorCode.TOPIC_DELETION_DISABLED if is_known else ErrorCode.INVALID_REQUEST
    if any(it.name is not None and it.topic_id != ZERO_UUID for it in asked):
        return ErrorCode.INVALID_REQUEST
    return ErrorCode.NONE


def name_of(topic: DeleteTopicState, broker: Broker) -> str | None:
    if topic.topic_id == ZERO_UUID:
        return topic.name
    return broker.metadata.topic_name(topic.topic_id)


def absent(topic: DeleteTopicState) -> ErrorCode:
    """A topic that is not there was asked for by id, or by name, or not at all."""
    if topic.topic_id != ZERO_UUID:
        return ErrorCode.UNKNOWN_TOPIC_ID
    if topic.name is None:
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED  # Nobody may delete nothing.
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def ask_for_deletion(name: str, broker: Broker) -> ErrorCode:
    """Have the controller told."""
    try:
        return await znodes.delete_topic(broker.keeper, name)
    except ZooKeeperError as error:
        broker.note.warning("topic %s is not deleted: %s", name, error)
        return ErrorCode.UNKNOWN_SERVER_ERROR


async def still_there(names: list[str], timeout_ms: int, broker: Broker) -> list[str]:
    """Wait for topics to go; which have not when the time is over."""
    topics = broker.metadata.topics
    if timeout_ms <= 0:
        return names
    if names:
        are_gone = topics.keys().isdisjoint
        await broker.metadata.until(lambda: are_gone(names), timeout_ms / 1000)
    return [name for name in names if name in topics]


def reply(topic: DeleteTopicState, name: str | None, code: ErrorCode) -> DeletableTopicResult:
    return DeletableTopicResult(name=name, topic_id=topic.topic_id, error_code=code)
