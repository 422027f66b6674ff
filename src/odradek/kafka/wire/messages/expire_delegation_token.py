"""ExpireDelegationToken (key 40, versions 0-2, flexible from 2): change when a token ends."""

from __future__ import annotations

from odradek.kafka.wire.schema import Bytes, Int16, Int32, Int64, Message


class ExpireDelegationTokenRequest(Message, api_key=40, versions="0-2", flexible="2+"):
    hmac: Bytes
    expiry_time_period_ms: Int64


class ExpireDelegationTokenResponse(Message, api_key=40, versions="0-2", flexible="2+"):
    error_code: Int16
    expiry_timestamp_ms: Int64
    throttle_time_ms: Int32
