"""UpdateFeatures (key 57, versions 0-1): there are none here, so nothing can be updated."""

from __future__ import annotations

from odradek.kafka.admin.features import decide_feature
from odradek.kafka.broker.broker import Broker
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.update_features import (
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)


async def update_features(
    message: UpdateFeaturesRequest, request: Request, broker: Broker
) -> UpdateFeaturesResponse:
    if not broker.controller.is_active:
        return UpdateFeaturesResponse(
            throttle_time_ms=0,
            error_code=ErrorCode.NOT_CONTROLLER,
            error_message="This is not the correct controller for this cluster.",
            results=[],
        )
    decided = {it.feature: decide_feature(it, request.version) for it in message.feature_updates}
    return UpdateFeaturesResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        error_message=None,
        results=[
            UpdatableFeatureResult(feature=name, error_code=it.code, error_message=it.message)
            for name, it in decided.items()
        ],
    )
