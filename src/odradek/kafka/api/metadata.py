"""Metadata (key 3, versions 0-12): brokers, topics, and who leads what.

Everything is seen from the listener that the client came by. A topic that is not there is made,
if both the client and `auto.create.topics.enable` want it; its leader comes a moment later, so
the answer is LEADER_NOT_AVAILABLE and the client asks again.

v0 takes an empty list for all topics, v1 null; v4 adds allow_auto_topic_creation; v8 the operations
that are allowed; v10 topic ids in the answer, and v12 in the question.

What is answered of a topic is kept until the cluster changes, for many will ask the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from odradek.kafka.admin.automatic import automatic_topic
from odradek.kafka.admin.metadata import Seen, missing_topic, topic_reply
from odradek.kafka.admin.names import refuse_name
from odradek.kafka.admin.operations import ALL_OF_A_CLUSTER, ALL_OF_A_TOPIC, NOT_ASKED
from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.api.create_topics import make_topics
from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.metadata import Metadata
from odradek.kafka.broker.throttling import Mutations
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponseTopic,
)
from odradek.kafka.wire.schema import ZERO_UUID

BY_ID_SINCE = 12
# A topic that somebody has made already will have a leader as soon as one that we have made.
SOON = (ErrorCode.TOPIC_ALREADY_EXISTS, ErrorCode.NONE)


async def metadata(message: MetadataRequest, request: Request, broker: Broker) -> MetadataResponse:
    if code := refuse_topics(message, request.version):
        return error_response(message, code)
    await broker.until_known()
    view = View(broker.metadata, request.origin.listener, request.version)
    operations = ALL_OF_A_TOPIC if message.include_topic_authorized_operations else NOT_ASKED
    if is_of_all(message, request.version):
        topics = view.all_topics(operations)
    else:
        # Topics that are made on the way count as changes, but nobody is refused or held back.
        mutations = broker.throttling.mutations(request)
        topics = await named_topics(message, view, broker, operations, mutations)
    is_asked = message.include_cluster_authorized_operations
    return MetadataResponse(
        brokers=view.brokers(),
        cluster_id=broker.cluster_id,
        controller_id=broker.metadata.controller_id,
        topics=topics,
        cluster_authorized_operations=ALL_OF_A_CLUSTER if is_asked else NOT_ASKED,
    )


def is_of_all(message: MetadataRequest, version: int) -> bool:
    return message.topics is None or (version == 0 and not message.topics)


def refuse_topics(message: MetadataRequest, version: int) -> ErrorCode:
    """Ids were in the schema before they could be asked for."""
    for topic in message.topics or ():
        if version < BY_ID_SINCE and (topic.name is None or topic.topic_id != ZERO_UUID):
            return ErrorCode.INVALID_REQUEST
        if topic.name is None and topic.topic_id == ZERO_UUID:
            return ErrorCode.UNKNOWN_SERVER_ERROR
    return ErrorCode.NONE


def error_response(message: MetadataRequest, code: ErrorCode) -> MetadataResponse:
    topics = [missing_topic(it.name or "", code, it.topic_id) for it in message.topics or ()]
    return MetadataResponse(brokers=[], topics=topics)


async def named_topics(
    message: MetadataRequest,
    view: View,
    broker: Broker,
    operations: int,
    mutations: Mutations | None,
) -> list[MetadataResponseTopic]:
    """The topics of a request, each once; where some are asked for by id, names do not count."""
    asked = message.topics or ()
    ids = dict.fromkeys(it.topic_id for it in asked if it.topic_id != ZERO_UUID)
    if ids:
        known = {it: name for it in ids if (name := broker.metadata.topic_name(it)) is not None}
        unknown = [
            missing_topic(None, ErrorCode.UNKNOWN_TOPIC_ID, it) for it in ids if it not in known
        ]
        return unknown + [view.topic(name, operations) for name in known.values()]
    names = dict.fromkeys(it.name for it in asked if it.name is not None)
    there = [view.topic(it, operations) for it in names if it in broker.metadata.topics]
    if len(there) == len(names):
        return there
    missing = [it for it in names if it not in broker.metadata.topics]
    may_create = message.allow_auto_topic_creation and broker.settings.auto_create_topics_enable
    codes = await created(missing, broker, mutations) if may_create else absent(missing)
    return there + [missing_topic(it, codes[it], operations=operations) for it in missing]


def absent(names: Iterable[str]) -> dict[str, ErrorCode]:
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return {it: refusal.code if (refusal := refuse_name(it)) else unknown for it in names}


async def created(
    names: Iterable[str], broker: Broker, mutations: Mutations | None
) -> dict[str, ErrorCode]:
    """Make topics; what became of each."""
    codes = {it: refusal.code for it in names if (refusal := refuse_name(it))}
    topics = [automatic_topic(it, broker.settings) for it in names if it not in codes]
    for name, outcome in (await make_topics(broker, topics, mutations=mutations)).items():
        code = outcome.code if isinstance(outcome, Refusal) else ErrorCode.NONE
        codes[name] = ErrorCode.LEADER_NOT_AVAILABLE if code in SOON else code
    return codes


class Reachable(NamedTuple):
    """The brokers that have one listener."""

    ids: frozenset[int]
    replies: list[MetadataResponseBroker]


class View:
    """The cluster from one listener, for clients of one version."""

    def __init__(self, metadata: Metadata, listener: str, version: int) -> None:
        self._metadata = metadata
        self._listener = listener
        self._reachable = reachable_at(metadata, listener)
        self._seen = Seen.by(version, metadata.brokers, self._reachable.ids)

    def brokers(self) -> list[MetadataResponseBroker]:
        return self._reachable.replies

    def all_topics(self, operations: int) -> list[MetadataResponseTopic]:
        key = ("all topics", self._listener, self._seen.version, operations)
        answers = self._metadata.answers
        if key not in answers:
            answers[key] = [self.topic(it, operations) for it in self._metadata.topics]
        topics: list[MetadataResponseTopic] = answers[key]
        return topics

    def topic(self, name: str, operations: int) -> MetadataResponseTopic:
        """A topic that there is."""
        key = ("topic", name, self._listener, self._seen.version, operations)
        reply: MetadataResponseTopic | None = self._metadata.answers.get(key)
        if reply is None:
            states = self._metadata.topics[name].values()
            topic_id = self._metadata.topic_id(name)
            reply = topic_reply(name, topic_id, states, self._seen, operations)
            self._metadata.answers[key] = reply
        return reply


def reachable_at(metadata: Metadata, listener: str) -> Reachable:
    key = ("brokers", listener)
    if key not in metadata.answers:
        found = metadata.brokers_at(listener)
        replies = [
            MetadataResponseBroker(node_id=it.id, host=at.host, port=at.port, rack=it.rack)
            for it, at in found
        ]
        metadata.answers[key] = Reachable(frozenset(it.id for it, _ in found), replies)
    reachable: Reachable = metadata.answers[key]
    return reachable
