"""UpdateFeatures (key 57, versions 0-1, flexible from 0): finalise feature levels."""

from __future__ import annotations

from odradek.kafka.wire.schema import Bool, Int8, Int16, Int32, Message, String, Struct, field


class FeatureUpdateKey(Struct):
    feature: String
    max_version_level: Int16
    allow_downgrade: Bool = field("0")
    upgrade_type: Int8 = field("1+", default=1)


class UpdateFeaturesRequest(Message, api_key=57, versions="0-1", flexible="0+"):
    timeout_ms: Int32 = 60000
    feature_updates: list[FeatureUpdateKey]
    validate_only: Bool = field("1+")


class UpdatableFeatureResult(Struct):
    feature: String
    error_code: Int16
    error_message: String | None


class UpdateFeaturesResponse(Message, api_key=57, versions="0-1", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: String | None
    results: list[UpdatableFeatureResult]
