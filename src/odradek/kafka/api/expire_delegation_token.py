"""ExpireDelegationToken (key 40, versions 0-2): there are no tokens here."""

from __future__ import annotations

from odradek.kafka.api.create_delegation_token import NEVER, why_no_token
from odradek.kafka.broker.broker import Broker
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)


async def expire_delegation_token(
    message: ExpireDelegationTokenRequest, request: Request, broker: Broker
) -> ExpireDelegationTokenResponse:
    return ExpireDelegationTokenResponse(
        error_code=why_no_token(request, broker), expiry_timestamp_ms=NEVER, throttle_time_ms=0
    )
