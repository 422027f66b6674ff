"""DescribeAcls (key 29, versions 0-3): without an authorizer there are no access rules."""

from __future__ import annotations

from odradek.kafka.broker.broker import Broker
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse

REASON = "No Authorizer is configured on the broker"


async def describe_acls(
    message: DescribeAclsRequest, request: Request, broker: Broker
) -> DescribeAclsResponse:
    return DescribeAclsResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.SECURITY_DISABLED,
        error_message=REASON,
        resources=[],
    )
