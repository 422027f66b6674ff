"""What this broker knows of the cluster: all that controllers have told it by UpdateMetadata.

A request names every live broker, and of the partitions only those that changed; a partition whose
leader is -2 is gone. Who waits for the cluster to look a certain way is woken when it does.

A controller that gets no answer says the same again on another connection. What it had said on the
first may come last, and by then be old: what tells of a partition as it was before is not believed,
neither of that one nor of who lives.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from odradek.kafka.controller.image import BEING_DELETED
from odradek.kafka.settings.endpoints import Endpoint, SecurityProtocol
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from odradek.kafka.wire.schema import ZERO_UUID

NO_CONTROLLER = -1
PROTOCOLS = tuple(SecurityProtocol)  # In the order of their ids on the wire.

Condition = Callable[[], object]


@dataclass(frozen=True, slots=True)
class KnownBroker:
    """A live broker, and where it can be reached."""

    id: int
    endpoints: Mapping[str, Endpoint]  # By the listener's name.
    rack: str | None


class Metadata:
    """The cluster as it was last described."""

    def __init__(self) -> None:
        self.controller_id = NO_CONTROLLER
        self.controller_epoch = 0  # The greatest that any request came with.
        self.features_epoch = -1  # The version of /feature's data; -1 if there is none.
        self.brokers: dict[int, KnownBroker] = {}
        self.topics: dict[str, dict[int, UpdateMetadataPartitionState]] = {}
        self.updated: list[Callable[[list[TopicPartition]], object]] = []  # Told what is gone.
        # What was answered since the last update, for those who will ask the same.
        self.answers: dict[Hashable, Any] = {}
        self._ids: dict[str, bytes] = {}
        self._names: dict[bytes, str] = {}
        self._waiters: list[tuple[Condition, asyncio.Future[bool]]] = []

    def partition(self, topic: str, index: int) -> UpdateMetadataPartitionState | None:
        return self.topics.get(topic, {}).get(index)

    def topic_id(self, topic: str) -> bytes:
        """All zeros if the topic is unknown, or older than ids are."""
        return self._ids.get(topic, ZERO_UUID)

    def topic_name(self, topic_id: bytes) -> str | None:
        return self._names.get(topic_id)

    def brokers_at(self, listener: str) -> list[tuple[KnownBroker, Endpoint]]:
        """The live brokers that have this listener, by their ids."""
        return [
            (it, it.endpoints[listener])
            for _, it in sorted(self.brokers.items())
            if listener in it.endpoints
        ]

    def endpoint(self, broker_id: int, listener: str) -> Endpoint | None:
        """Where a broker can be reached; None if it is not live, or has no such listener."""
        known = self.brokers.get(broker_id)
        return None if known is None else known.endpoints.get(listener)

    def controller_at(self, listener: str) -> Endpoint | None:
        return self.endpoint(self.controller_id, listener)

    def until(self, condition: Condition, timeout_s: float) -> asyncio.Future[bool]:
        """True as soon as the condition holds, False if it does not in time."""
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[bool] = loop.create_future()
        if condition():
            waiter.set_result(True)
            return waiter
        self._waiters.append((condition, waiter))
        timer = loop.call_later(max(timeout_s, 0.0), self._give_up, waiter)
        waiter.add_done_callback(lambda _: timer.cancel())
        return waiter

    def is_from_the_past(self, controller_epoch: int) -> bool:
        """Whether a request is from a controller that was replaced; if not, remember its epoch."""
        if controller_epoch < self.controller_epoch:
            return True
        self.controller_epoch = controller_epoch
        return False

    def update(self, message: UpdateMetadataRequest) -> list[TopicPartition]:
        """Take what a controller tells; which partitions are gone."""
        self.answers.clear()
        topics = list(grouped(message))
        if not any(map(self._is_late, topics)):
            self.controller_id = message.controller_id
            self.brokers = {it.id: known_broker(it) for it in message.live_brokers}
        gone: list[TopicPartition] = []
        for topic in topics:
            self._learn(topic, gone)
        self._tell(gone)
        return gone

    def forget_topics(self, topics: Iterable[str]) -> None:
        """Take topics for gone although no controller said so."""
        gone = []
        for name in topics:
            gone += [TopicPartition(name, index) for index in self.topics.get(name, ())]
            self._forget(name)
        self._tell(gone)

    def _tell(self, gone: list[TopicPartition]) -> None:
        for heard in self.updated:
            heard(gone)
        self._wake()

    def _is_late(self, topic: UpdateMetadataTopicState) -> bool:
        known = self.topics.get(topic.topic_name, {})
        return self._is_same(topic) and any(
            is_older(it, known.get(it.partition_index)) for it in topic.partition_states
        )

    def _is_same(self, topic: UpdateMetadataTopicState) -> bool:
        """Whether it is surely the topic that we know, and not one of its name."""
        return topic.topic_id != ZERO_UUID and topic.topic_id == self.topic_id(topic.topic_name)

    def _learn(self, topic: UpdateMetadataTopicState, gone: list[TopicPartition]) -> None:
        name = topic.topic_name
        known, is_same = self.topics.setdefault(name, {}), self._is_same(topic)
        self._learn_id(name, topic.topic_id)
        for state in topic.partition_states:
            if is_same and is_older(state, known.get(state.partition_index)):
                continue
            if state.leader != BEING_DELETED:
                known[state.partition_index] = state
            elif known.pop(state.partition_index, None) is not None:
                gone.append(TopicPartition(name, state.partition_index))
        if not known:
            self._forget(name)

    def _learn_id(self, name: str, topic_id: bytes) -> None:
        if topic_id == ZERO_UUID:
            return
        self._names.pop(self._ids.get(name, ZERO_UUID), None)
        self._ids[name] = topic_id
        self._names[topic_id] = name

    def _forget(self, name: str) -> None:
        self.topics.pop(name, None)
        self._names.pop(self._ids.pop(name, ZERO_UUID), None)

    def _wake(self) -> None:
        for condition, waiter in self._waiters:
            if not waiter.done() and condition():
                waiter.set_result(True)
        self._waiters = [it for it in self._waiters if not it[1].done()]

    def _give_up(self, waiter: asyncio.Future[bool]) -> None:
        if not waiter.done():
            waiter.set_result(False)
        self._waiters = [it for it in self._waiters if not it[1].done()]


def is_older(
    state: UpdateMetadataPartitionState, known: UpdateMetadataPartitionState | None
) -> bool:
    """Whether this was decided before what is known."""
    if known is None or state.leader == BEING_DELETED:
        return False
    return state.leader_epoch <= known.leader_epoch and state.zk_version < known.zk_version


def grouped(message: UpdateMetadataRequest) -> Iterable[UpdateMetadataTopicState]:
    """The partitions by topic; until version 4 they came one by one."""
    if not message.ungrouped_partition_states:
        return message.topic_states
    by_name: dict[str, list[UpdateMetadataPartitionState]] = {}
    for state in message.ungrouped_partition_states:
        by_name.setdefault(state.topic_name, []).append(state)
    return [
        UpdateMetadataTopicState(topic_name=name, partition_states=states)
        for name, states in by_name.items()
    ]


def known_broker(broker: UpdateMetadataBroker) -> KnownBroker:
    endpoints = [known_endpoint(it) for it in broker.endpoints]
    if not endpoints:  # Version 0 knew one address, and no other protocol.
        plain = SecurityProtocol.PLAINTEXT
        endpoints = [Endpoint(plain.value, broker.v0_host, broker.v0_port, plain)]
    return KnownBroker(broker.id, {it.name: it for it in endpoints}, broker.rack)


def known_endpoint(endpoint: UpdateMetadataEndpoint) -> Endpoint:
    protocol = PROTOCOLS[endpoint.security_protocol]
    # Until version 2 a listener was named for its protocol.
    return Endpoint(endpoint.listener or protocol.value, endpoint.host, endpoint.port, protocol)
