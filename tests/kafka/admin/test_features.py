"""There are no features to update, and each request hears why."""

from __future__ import annotations

import pytest

from odradek.kafka.admin.features import decide_feature
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.update_features import FeatureUpdateKey


@pytest.mark.parametrize(
    ("update", "version", "words"),
    [
        (FeatureUpdateKey(feature="", max_version_level=1), 1, "empty"),
        (FeatureUpdateKey(feature="f", max_version_level=1, upgrade_type=0), 1, "unknown upgrade"),
        (FeatureUpdateKey(feature="f", max_version_level=1), 1, "not supported"),
        (FeatureUpdateKey(feature="f", max_version_level=0), 1, "needs a downgrade"),
        (FeatureUpdateKey(feature="f", max_version_level=0, upgrade_type=2), 1, "non-existing"),
        (FeatureUpdateKey(feature="f", max_version_level=0, allow_downgrade=True), 0, "non-exis"),
        (FeatureUpdateKey(feature="f", max_version_level=0, allow_downgrade=False), 0, "needs a"),
    ],
)
def test_whatever_is_asked_for_is_refused(
    update: FeatureUpdateKey, version: int, words: str
) -> None:
    refusal = decide_feature(update, version)
    assert refusal.code is ErrorCode.INVALID_REQUEST
    assert refusal.message and words in refusal.message
