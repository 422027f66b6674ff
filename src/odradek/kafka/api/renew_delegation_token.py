"""RenewDelegationToken (key 39, versions 0-2): there are no tokens here."""

from __future__ import annotations

from odradek.kafka.api.create_delegation_token import NEVER, why_no_token
from odradek.kafka.broker.broker import Broker
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)


async def renew_delegation_token(
    message: RenewDelegationTokenRequest, request: Request, broker: Broker
) -> RenewDelegationTokenResponse:
    return RenewDelegationTokenResponse(
        error_code=why_no_token(request, broker), expiry_timestamp_ms=NEVER, throttle_time_ms=0
    )
