"""CreateTopics (key 19, versions 0-7): make topics, or only say whether one could.

Topics are decided upon one after the other, so that the second of two that collide is refused, and
written all at once. The answer waits until every partition has a leader, or for the time that the
client gives; then the topic is there all the same, and the code is REQUEST_TIMED_OUT.

v1 adds validate_only; v4 lets -1 stand for the broker's defaults; v5 answers with the settings
and counts of the topic, v6 has an error for who changes too much, v7 answers with the topic's id.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from odradek.kafka.admin.configs import created_entries
from odradek.kafka.admin.names import CLUSTER_METADATA, may_collide
from odradek.kafka.admin.placement import Candidate
from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.admin.topics import Existing, NewTopic, already_exists, decide_topic
from odradek.kafka.broker import topics as znodes
from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.throttling import Mutations
from odradek.kafka.controller import paths
from odradek.kafka.settings.described import describe_topic
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from odradek.kafka.wire.schema import ZERO_UUID
from odradek.zookeeper.client.errors import ZooKeeperError

SETTINGS_SINCE = 5
STRICT_SINCE = 6
TOO_MANY = "The throttling quota has been exceeded."


class Made(NamedTuple):
    """A topic that is in ZooKeeper now, or would be."""

    topic: NewTopic
    id: bytes


async def create_topics(
    message: CreateTopicsRequest, request: Request, broker: Broker
) -> CreateTopicsResponse:
    if not broker.controller.is_active:
        refusal = Refusal(ErrorCode.NOT_CONTROLLER, "")
        return CreateTopicsResponse(topics=[refused(it.name, refusal) for it in message.topics])
    refusals = refuse_names(message.topics)
    wanted = [it for it in message.topics if it.name not in refusals]
    mutations = broker.throttling.mutations(request, STRICT_SINCE)
    made = await make_topics(
        broker, wanted, validate_only=message.validate_only, mutations=mutations
    )
    late: list[str] = []
    if not message.validate_only:
        new = [it.topic for it in made.values() if isinstance(it, Made)]
        late = await without_leaders(broker, new, message.timeout_ms)
    outcomes = refusals | made
    replies = Replies(broker, request.version, frozenset(late))
    return CreateTopicsResponse(
        throttle_time_ms=mutations.throttle_time_ms if mutations else 0,
        topics=[replies.of(it.name, outcomes[it.name]) for it in message.topics],
    )


def refuse_names(topics: Iterable[CreatableTopic]) -> dict[str, Made | Refusal]:
    """What is wrong before anybody looks at the cluster."""
    times = Counter(it.name for it in topics)
    refusals: dict[str, Made | Refusal] = {}
    for name, count in times.items():
        reason = ""
        if name == CLUSTER_METADATA:
            reason = f"Creation of internal topic {name} is prohibited."
        elif count > 1:
            reason = "Found multiple entries for this topic."
        if reason:
            refusals[name] = Refusal(ErrorCode.INVALID_REQUEST, reason)
    return refusals


async def make_topics(
    broker: Broker,
    topics: list[CreatableTopic],
    *,
    validate_only: bool = False,
    mutations: Mutations | None = None,
) -> dict[str, Made | Refusal]:
    """Decide upon topics of different names, and write those that may be. No leader yet."""
    try:
        existing = await existing_topics(broker, topics)
    except ZooKeeperError as error:
        broker.note.warning("topics are not created: %s", error)
        return dict.fromkeys((it.name for it in topics), Refusal(ErrorCode.UNKNOWN_SERVER_ERROR))
    outcomes: dict[str, Made | Refusal] = {}
    new: list[NewTopic] = []
    for topic in topics:
        decided = decide_topic(topic, broker.layers, existing, broker.random.randrange)
        if isinstance(decided, Refusal):
            outcomes[topic.name] = decided
        elif validate_only:
            outcomes[topic.name] = Made(decided, ZERO_UUID)
        elif mutations and not mutations.may_change(len(decided.assignment)):
            outcomes[topic.name] = Refusal(ErrorCode.THROTTLING_QUOTA_EXCEEDED, TOO_MANY)
        else:
            new.append(decided)
            existing.topics.add(topic.name)
    written = await asyncio.gather(*(write_topic(broker, it) for it in new))
    return outcomes | {it.name: outcome for it, outcome in zip(new, written, strict=True)}


async def existing_topics(broker: Broker, topics: list[CreatableTopic]) -> Existing:
    """What the new ones could be in the way of."""
    doomed = await broker.keeper.children(paths.DELETE_TOPICS)
    names = set(broker.metadata.topics)
    if any(may_collide(it.name) for it in topics):
        names |= set(await broker.keeper.children(paths.TOPICS))
    return Existing(names, doomed, live_brokers(broker))


def live_brokers(broker: Broker) -> list[Candidate]:
    """Who may get replicas, by their ids."""
    return [Candidate(it.id, it.rack) for _, it in sorted(broker.metadata.brokers.items())]


async def write_topic(broker: Broker, topic: NewTopic) -> Made | Refusal:
    try:
        written = await znodes.create_topic(
            broker.keeper, topic.name, topic.assignment, topic.overrides
        )
    except ZooKeeperError as error:
        broker.note.warning("topic %s may not have been created: %s", topic.name, error)
        return Refusal(ErrorCode.UNKNOWN_SERVER_ERROR)
    if isinstance(written, ErrorCode):
        return already_exists(topic.name)
    return Made(topic, written)


async def without_leaders(broker: Broker, topics: list[NewTopic], timeout_ms: int) -> list[str]:
    """Wait for leaders; return the topics that lack some when the time is over."""
    if timeout_ms > 0 and topics:
        waiting = [(it.name, index) for it in topics for index in it.assignment]
        await until_led(broker, waiting, timeout_ms)
        return [it.name for it in topics if not all(map_led(broker, it))]
    return [it.name for it in topics]


def map_led(broker: Broker, topic: NewTopic) -> Iterable[bool]:
    return (is_led(broker, topic.name, index) for index in topic.assignment)


async def until_led(broker: Broker, waiting: list[tuple[str, int]], timeout_ms: int) -> bool:
    """Wait until each of the partitions has a leader; each is looked at until it has."""

    def are_led() -> bool:
        while waiting and is_led(broker, *waiting[-1]):
            waiting.pop()
        return not waiting

    return await broker.metadata.until(are_led, timeout_ms / 1000)


def is_led(broker: Broker, topic: str, index: int) -> bool:
    state = broker.metadata.partition(topic, index)
    return state is not None and state.leader >= 0


class Replies:
    """Answers; topics with the same settings share a list of them."""

    def __init__(self, broker: Broker, version: int, late: frozenset[str]) -> None:
        self._broker = broker
        self._version = version
        self._late = late
        self._settings: dict[tuple[tuple[str, str], ...], list[CreatableTopicConfigs]] = {}

    def of(self, name: str, outcome: Made | Refusal) -> CreatableTopicResult:
        if isinstance(outcome, Refusal):
            return refused(name, outcome)
        if name in self._late:
            return refused(name, Refusal(ErrorCode.REQUEST_TIMED_OUT), outcome.id)
        assignment = outcome.topic.assignment
        return CreatableTopicResult(
            name=name,
            topic_id=outcome.id,
            error_code=ErrorCode.NONE,
            error_message=None,
            num_partitions=len(assignment),
            replication_factor=len(assignment[0]),
            configs=self._settings_of(outcome.topic),
        )

    def _settings_of(self, topic: NewTopic) -> list[CreatableTopicConfigs]:
        if self._version < SETTINGS_SINCE:
            return []
        key = tuple(topic.overrides.items())
        if key not in self._settings:
            described = describe_topic(self._broker.layers, topic.overrides)
            self._settings[key] = created_entries(described)
        return self._settings[key]


def refused(name: str, refusal: Refusal, topic_id: bytes = ZERO_UUID) -> CreatableTopicResult:
    return CreatableTopicResult(
        name=name,
        topic_id=topic_id,
        error_code=refusal.code,
        error_message=refusal.message,
        configs=[],
    )
