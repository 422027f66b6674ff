"""CreateDelegationToken (key 38, versions 0-3, flexible from 2).

Get a token that stands for a principal.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Bytes, Int16, Int32, Int64, Message, String, Struct, field


class CreatableRenewers(Struct):
    principal_type: String
    principal_name: String


class CreateDelegationTokenRequest(Message, api_key=38, versions="0-3", flexible="2+"):
    owner_principal_type: String | None = field("3+")
    owner_principal_name: String | None = field("3+")
    renewers: list[CreatableRenewers]
    max_lifetime_ms: Int64


class CreateDelegationTokenResponse(Message, api_key=38, versions="0-3", flexible="2+"):
    error_code: Int16
    principal_type: String
    principal_name: String
    token_requester_principal_type: String = field("3+")
    token_requester_principal_name: String = field("3+")
    issue_timestamp_ms: Int64
    expiry_timestamp_ms: Int64
    max_timestamp_ms: Int64
    token_id: String
    hmac: Bytes
    throttle_time_ms: Int32
