"""SaslAuthenticate (key 36, versions 0-2, flexible from 2): one step of a SASL exchange."""

from __future__ import annotations

from odradek.kafka.wire.schema import Bytes, Int16, Int64, Message, String, field


class SaslAuthenticateRequest(Message, api_key=36, versions="0-2", flexible="2+"):
    auth_bytes: Bytes


class SaslAuthenticateResponse(Message, api_key=36, versions="0-2", flexible="2+"):
    error_code: Int16
    error_message: String | None
    auth_bytes: Bytes
    session_lifetime_ms: Int64 = field("1+", ignorable=True)
