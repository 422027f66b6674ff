"""DeleteTopics (key 20, versions 0-6, flexible from 4): delete topics by name or id."""

from __future__ import annotations

from odradek.kafka.wire.schema import Int16, Int32, Message, String, Struct, Uuid, field


class DeleteTopicState(Struct):
    name: String | None = None
    topic_id: Uuid


class DeleteTopicsRequest(Message, api_key=20, versions="0-6", flexible="4+"):
    topics: list[DeleteTopicState] = field("6+")
    topic_names: list[String] = field("0-5", ignorable=True)
    timeout_ms: Int32


class DeletableTopicResult(Struct):
    name: String | None = field(null="6+")
    topic_id: Uuid = field("6+", ignorable=True)
    error_code: Int16
    error_message: String | None = field("5+", default=None, ignorable=True)


class DeleteTopicsResponse(Message, api_key=20, versions="0-6", flexible="4+"):
    throttle_time_ms: Int32 = field("1+", ignorable=True)
    responses: list[DeletableTopicResult]
