"""There are no features, so each update is refused by its name."""

from __future__ import annotations

from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from tests.kafka.api.administered import Administered, administered


@administered()
async def test_every_feature_is_refused(stage: Administered) -> None:
    for version in (0, 1):
        message = UpdateFeaturesRequest(
            feature_updates=[FeatureUpdateKey(feature="metadata.version", max_version_level=20)]
        )
        response = await stage.ask(message, version, UpdateFeaturesResponse)
        assert response.error_code == ErrorCode.NONE
        (result,) = response.results
        assert (result.feature, result.error_code) == (
            "metadata.version",
            ErrorCode.INVALID_REQUEST,
        )
        assert result.error_message
