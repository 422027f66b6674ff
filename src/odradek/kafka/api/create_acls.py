"""CreateAcls (key 30, versions 0-3): without an authorizer nobody would keep the rules."""

from __future__ import annotations

from odradek.kafka.api.describe_acls import REASON
from odradek.kafka.broker.broker import Broker
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.create_acls import (
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)


async def create_acls(
    message: CreateAclsRequest, request: Request, broker: Broker
) -> CreateAclsResponse:
    refused = AclCreationResult(error_code=ErrorCode.SECURITY_DISABLED, error_message=REASON)
    return CreateAclsResponse(throttle_time_ms=0, results=[refused] * len(message.creations))
