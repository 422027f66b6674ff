"""DescribeCluster (key 60, versions 0-1, flexible from 0).

The brokers, the controller and the cluster's id.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Bool, Int8, Int16, Int32, Message, String, Struct, field


class DescribeClusterRequest(Message, api_key=60, versions="0-1", flexible="0+"):
    include_cluster_authorized_operations: Bool
    endpoint_type: Int8 = field("1+", default=1)


class DescribeClusterBroker(Struct):
    broker_id: Int32
    host: String
    port: Int32
    rack: String | None = None


class DescribeClusterResponse(Message, api_key=60, versions="0-1", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: String | None = None
    endpoint_type: Int8 = field("1+", default=1)
    cluster_id: String
    controller_id: Int32 = -1
    brokers: list[DescribeClusterBroker]
    cluster_authorized_operations: Int32 = -2147483648
