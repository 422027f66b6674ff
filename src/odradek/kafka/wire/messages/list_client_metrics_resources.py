"""ListClientMetricsResources (key 74, version 0, flexible from 0).

List metrics subscriptions; served by KRaft brokers alone.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Int16, Int32, Message, String, Struct


class ListClientMetricsResourcesRequest(Message, api_key=74, versions="0", flexible="0+"):
    pass


class ClientMetricsResource(Struct):
    name: String


class ListClientMetricsResourcesResponse(Message, api_key=74, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    client_metrics_resources: list[ClientMetricsResource]
