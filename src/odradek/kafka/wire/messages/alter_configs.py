"""AlterConfigs (key 33, versions 0-2, flexible from 2).

Replace all dynamic configs of a topic or broker.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Bool, Int8, Int16, Int32, Message, String, Struct


class AlterableConfig(Struct):
    name: String
    value: String | None


class AlterConfigsResource(Struct):
    resource_type: Int8
    resource_name: String
    configs: list[AlterableConfig]


class AlterConfigsRequest(Message, api_key=33, versions="0-2", flexible="2+"):
    resources: list[AlterConfigsResource]
    validate_only: Bool


class AlterConfigsResourceResponse(Struct):
    error_code: Int16
    error_message: String | None
    resource_type: Int8
    resource_name: String


class AlterConfigsResponse(Message, api_key=33, versions="0-2", flexible="2+"):
    throttle_time_ms: Int32
    responses: list[AlterConfigsResourceResponse]
