"""FindCoordinator (key 10, versions 0-6): which broker coordinates a group or a transaction.

It is the leader of the partition that the key hashes to. The topic of that partition is made when
the first asks for it; the answer waits a moment for its leaders, where Kafka would have the client
ask again.

Until version 3 one key is asked for, then several. Key type 1, transactions, came with v1; type 2,
share groups, with v6, and nobody coordinates these.
"""

from __future__ import annotations

from typing import NamedTuple

from odradek.kafka.admin.automatic import automatic_topic
from odradek.kafka.admin.names import CONSUMER_OFFSETS, TRANSACTION_STATE
from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.api.create_topics import make_topics, until_led
from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.throttling import Mutations
from odradek.kafka.coordinator.group_partitions import partition_for
from odradek.kafka.settings.endpoints import Endpoint
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

FIRST_OF_MANY = 4
TOPICS = {0: CONSUMER_OFFSETS, 1: TRANSACTION_STATE}
SHARE, FIRST_WITH_SHARE = 2, 6
NOBODY = -1
WAIT_MS = 1000
SOON = (ErrorCode.TOPIC_ALREADY_EXISTS, ErrorCode.NONE)
MESSAGES = {
    ErrorCode.NONE: "NONE",
    ErrorCode.COORDINATOR_NOT_AVAILABLE: "The coordinator is not available.",
}


class Found(NamedTuple):
    """Who coordinates, or why nobody does."""

    error: ErrorCode
    node_id: int = NOBODY
    endpoint: Endpoint | None = None


UNAVAILABLE = Found(ErrorCode.COORDINATOR_NOT_AVAILABLE)


async def find_coordinator(
    message: FindCoordinatorRequest, request: Request, broker: Broker
) -> FindCoordinatorResponse:
    is_one = request.version < FIRST_OF_MANY
    keys = [message.key] if is_one else message.coordinator_keys
    topic = TOPICS.get(message.key_type)
    if topic is None:
        is_known = message.key_type == SHARE and request.version >= FIRST_WITH_SHARE
        refused = UNAVAILABLE if is_known else Found(ErrorCode.INVALID_REQUEST)
        found = [refused for _ in keys]
    else:
        if topic not in broker.metadata.topics:
            await make_topic(broker, topic, broker.throttling.mutations(request))
        found = [find(broker, topic, key, request.origin.listener) for key in keys]
    if is_one:
        return answer_one(found[0])
    return FindCoordinatorResponse(coordinators=[*map(coordinator, keys, found)])


async def make_topic(broker: Broker, topic: str, mutations: Mutations | None = None) -> None:
    wanted = automatic_topic(topic, broker.settings)
    outcome = (await make_topics(broker, [wanted], mutations=mutations))[topic]
    code = outcome.code if isinstance(outcome, Refusal) else ErrorCode.NONE
    if code not in SOON:
        broker.note.warning("%s cannot be created: %s", topic, code.name)
        return
    waiting = [(topic, index) for index in range(wanted.num_partitions)]
    await until_led(broker, waiting, WAIT_MS)


def find(broker: Broker, topic: str, key: str, listener: str) -> Found:
    states = broker.metadata.topics.get(topic)
    if not states:
        return UNAVAILABLE
    state = states.get(partition_for(key, len(states)))
    if state is None:
        return UNAVAILABLE
    endpoint = broker.metadata.endpoint(state.leader, listener)
    return UNAVAILABLE if endpoint is None else Found(ErrorCode.NONE, state.leader, endpoint)


def answer_one(found: Found) -> FindCoordinatorResponse:
    endpoint = found.endpoint
    return FindCoordinatorResponse(
        error_code=found.error,
        error_message=MESSAGES.get(found.error),
        node_id=found.node_id,
        host=endpoint.host if endpoint else "",
        port=endpoint.port if endpoint else NOBODY,
    )


def coordinator(key: str, found: Found) -> Coordinator:
    endpoint = found.endpoint
    return Coordinator(
        key=key,
        node_id=found.node_id,
        host=endpoint.host if endpoint else "",
        port=endpoint.port if endpoint else NOBODY,
        error_code=found.error,
        error_message="",
    )
