"""DescribeConfigs (key 32, versions 0-4, flexible from 4).

Configs of topics and brokers, with where each value comes from.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Bool, Int8, Int16, Int32, Message, String, Struct, field


class DescribeConfigsResource(Struct):
    resource_type: Int8
    resource_name: String
    configuration_keys: list[String] | None


class DescribeConfigsRequest(Message, api_key=32, versions="0-4", flexible="4+"):
    resources: list[DescribeConfigsResource]
    include_synonyms: Bool = field("1+")
    include_documentation: Bool = field("3+")


class DescribeConfigsSynonym(Struct):
    name: String
    value: String | None
    source: Int8


class DescribeConfigsResourceResult(Struct):
    name: String
    value: String | None
    read_only: Bool
    is_default: Bool = field("0")
    config_source: Int8 = field("1+", default=-1, ignorable=True)
    is_sensitive: Bool
    synonyms: list[DescribeConfigsSynonym] = field("1+", ignorable=True)
    config_type: Int8 = field("3+", ignorable=True)
    documentation: String | None = field("3+", ignorable=True)


class DescribeConfigsResult(Struct):
    error_code: Int16
    error_message: String | None
    resource_type: Int8
    resource_name: String
    configs: list[DescribeConfigsResourceResult]


class DescribeConfigsResponse(Message, api_key=32, versions="0-4", flexible="4+"):
    throttle_time_ms: Int32
    results: list[DescribeConfigsResult]
