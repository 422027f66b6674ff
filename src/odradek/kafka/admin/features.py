"""Feature levels that a cluster agrees on. A 3.9 broker on ZooKeeper has none to offer.

So whatever is asked for is refused; only the reason differs.
"""

from __future__ import annotations

from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.update_features import FeatureUpdateKey

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3


def decide_feature(update: FeatureUpdateKey, version: int) -> Refusal:
    """Say why a feature cannot be had."""
    return Refusal(ErrorCode.INVALID_REQUEST, why_not(update, upgrade_type(update, version)))


def upgrade_type(update: FeatureUpdateKey, version: int) -> int:
    """Version 0 had but one way down."""
    if version > 0:
        return update.upgrade_type
    return SAFE_DOWNGRADE if update.allow_downgrade else UPGRADE


def why_not(update: FeatureUpdateKey, upgrade_type: int) -> str:
    if not update.feature:
        return "Feature name can not be empty."
    if upgrade_type not in (UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE):
        return "Received unknown upgrade type."
    if update.max_version_level >= 1:
        return "The feature is not supported, so it cannot be finalized."
    if upgrade_type == UPGRADE:
        return f"A level of {update.max_version_level} is a deletion, and needs a downgrade."
    return "Can not delete non-existing finalized feature."
