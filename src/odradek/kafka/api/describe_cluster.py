"""DescribeCluster (key 60, versions 0-1): the brokers, the controller, the cluster's id.

v1 lets a client say whether it means brokers or, where there is KRaft, controllers.
"""

from __future__ import annotations

from odradek.kafka.admin.operations import ALL_OF_A_CLUSTER, NOT_ASKED
from odradek.kafka.broker.broker import Broker
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

BROKERS, CONTROLLERS = 1, 2
NOBODY = -1


async def describe_cluster(
    message: DescribeClusterRequest, request: Request, broker: Broker
) -> DescribeClusterResponse:
    if message.endpoint_type != BROKERS:
        return refused(message.endpoint_type)
    await broker.until_known()
    found = broker.metadata.brokers_at(request.origin.listener)
    controller_id = broker.metadata.controller_id
    is_known = any(it.id == controller_id for it, _ in found)
    is_asked = message.include_cluster_authorized_operations
    return DescribeClusterResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        cluster_id=broker.cluster_id,
        controller_id=controller_id if is_known else NOBODY,
        brokers=[
            DescribeClusterBroker(broker_id=it.id, host=at.host, port=at.port, rack=it.rack)
            for it, at in found
        ],
        cluster_authorized_operations=ALL_OF_A_CLUSTER if is_asked else NOT_ASKED,
    )


def refused(endpoint_type: int) -> DescribeClusterResponse:
    is_known = endpoint_type == CONTROLLERS
    code = ErrorCode.MISMATCHED_ENDPOINT_TYPE if is_known else ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
    return DescribeClusterResponse(
        throttle_time_ms=0,
        error_code=code,
        error_message=f"This is a broker, and endpoints of type {endpoint_type} are none",
        cluster_id="",
        brokers=[],
    )
