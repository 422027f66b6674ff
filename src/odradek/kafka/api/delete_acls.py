"""DeleteAcls (key 31, versions 0-3): without an authorizer there are no access rules."""

from __future__ import annotations

from odradek.kafka.api.describe_acls import REASON
from odradek.kafka.broker.broker import Broker
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsRequest,
    DeleteAclsResponse,
)


async def delete_acls(
    message: DeleteAclsRequest, request: Request, broker: Broker
) -> DeleteAclsResponse:
    refused = DeleteAclsFilterResult(
        error_code=ErrorCode.SECURITY_DISABLED, error_message=REASON, matching_acls=[]
    )
    return DeleteAclsResponse(throttle_time_ms=0, filter_results=[refused] * len(message.filters))
