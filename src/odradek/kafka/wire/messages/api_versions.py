"""ApiVersions (key 18, versions 0-4, flexible from 3): what this broker speaks."""

from __future__ import annotations

from odradek.kafka.wire.schema import Bool, Int16, Int32, Int64, Message, String, Struct, field


class ApiVersionsRequest(Message, api_key=18, versions="0-4", flexible="3+"):
    client_software_name: String = field("3+", ignorable=True)
    client_software_version: String = field("3+", ignorable=True)


class ApiVersion(Struct):
    api_key: Int16
    min_version: Int16
    max_version: Int16


class SupportedFeatureKey(Struct):
    name: String
    min_version: Int16
    max_version: Int16


class FinalizedFeatureKey(Struct):
    name: String
    max_version_level: Int16
    min_version_level: Int16


class ApiVersionsResponse(Message, api_key=18, versions="0-4", flexible="3+"):
    error_code: Int16
    api_keys: list[ApiVersion]
    throttle_time_ms: Int32 = field("1+", ignorable=True)
    supported_features: list[SupportedFeatureKey] = field("3+", tag=0, ignorable=True)
    finalized_features_epoch: Int64 = field("3+", default=-1, tag=1, ignorable=True)
    finalized_features: list[FinalizedFeatureKey] = field("3+", tag=2, ignorable=True)
    zk_migration_ready: Bool = field("3+", tag=3, ignorable=True)
