"""DescribeDelegationToken (key 41, versions 0-3, flexible from 2): list delegation tokens."""

from __future__ import annotations

from odradek.kafka.wire.schema import Bytes, Int16, Int32, Int64, Message, String, Struct, field


class DescribeDelegationTokenOwner(Struct):
    principal_type: String
    principal_name: String


class DescribeDelegationTokenRequest(Message, api_key=41, versions="0-3", flexible="2+"):
    owners: list[DescribeDelegationTokenOwner] | None


class DescribedDelegationTokenRenewer(Struct):
    principal_type: String
    principal_name: String


class DescribedDelegationToken(Struct):
    principal_type: String
    principal_name: String
    token_requester_principal_type: String = field("3+")
    token_requester_principal_name: String = field("3+")
    issue_timestamp: Int64
    expiry_timestamp: Int64
    max_timestamp: Int64
    token_id: String
    hmac: Bytes
    renewers: list[DescribedDelegationTokenRenewer]


class DescribeDelegationTokenResponse(Message, api_key=41, versions="0-3", flexible="2+"):
    error_code: Int16
    tokens: list[DescribedDelegationToken]
    throttle_time_ms: Int32
