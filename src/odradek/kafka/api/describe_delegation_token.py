"""DescribeDelegationToken (key 41, versions 0-3): there are no tokens here."""

from __future__ import annotations

from odradek.kafka.api.create_delegation_token import why_no_token
from odradek.kafka.broker.broker import Broker
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.messages.describe_delegation_token import (
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)


async def describe_delegation_token(
    message: DescribeDelegationTokenRequest, request: Request, broker: Broker
) -> DescribeDelegationTokenResponse:
    return DescribeDelegationTokenResponse(
        error_code=why_no_token(request, broker), tokens=[], throttle_time_ms=0
    )
