"""CreateDelegationToken (key 38, versions 0-3): none is to be had here.

A token stands for somebody who has proved who they are, so whoever comes by a listener where nobody
does cannot have one. Where they do, tokens are disabled. v3 adds an owner other than the asker.
"""

from __future__ import annotations

from odradek.kafka.broker.broker import Broker
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)

NEVER = -1
ANONYMOUS = ("User", "ANONYMOUS")
REQUESTER_SINCE = 3


async def create_delegation_token(
    message: CreateDelegationTokenRequest, request: Request, broker: Broker
) -> CreateDelegationTokenResponse:
    kind, name = ANONYMOUS
    requester = ANONYMOUS if request.version >= REQUESTER_SINCE else ("", "")
    return CreateDelegationTokenResponse(
        error_code=why_no_token(request, broker),
        principal_type=message.owner_principal_type or kind,
        principal_name=message.owner_principal_name or name,
        token_requester_principal_type=requester[0],
        token_requester_principal_name=requester[1],
        issue_timestamp_ms=NEVER,
        expiry_timestamp_ms=NEVER,
        max_timestamp_ms=NEVER,
        token_id="",
        hmac=b"",
        throttle_time_ms=0,
    )


def why_no_token(request: Request, broker: Broker) -> ErrorCode:
    protocol = broker.settings.listener_security_protocol_map.get(request.origin.listener)
    if protocol is not None and protocol.is_sasl:
        return ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
    return ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
