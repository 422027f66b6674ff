"""What stands before each request and response."""

from __future__ import annotations

from odradek.kafka.wire.schema import Int16, Int32, Message, String, field


class RequestHeader(Message, versions="0-2", flexible="2+"):
    request_api_key: Int16
    request_api_version: Int16
    correlation_id: Int32
    client_id: String | None = field("1+", ignorable=True, rigid=True)


class ResponseHeader(Message, versions="0-1", flexible="1+"):
    correlation_id: Int32
