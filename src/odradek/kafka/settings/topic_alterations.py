"""Whether a topic may have these settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from odradek.kafka.settings.alterations import INVALID_CONFIG, Alteration, Refused, altered
from odradek.kafka.settings.layers import Layers
from odradek.kafka.settings.topic import TOPIC_BY_KEY
from odradek.runtime.settings import SettingsRefused, suggestion


def decide_topic_alterations(
    layers: Layers, current: Mapping[str, str], alterations: Iterable[Alteration]
) -> dict[str, str] | Refused:
    """IncrementalAlterConfigs: what a topic's own settings would become."""
    texts = altered(current, alterations, TOPIC_BY_KEY.get)
    return texts if isinstance(texts, Refused) else decide_topic_settings(layers, texts)


def decide_topic_settings(layers: Layers, texts: Mapping[str, str]) -> dict[str, str] | Refused:
    """AlterConfigs and CreateTopics: whether these can be all that is said of a topic."""
    for key in texts:
        if key not in TOPIC_BY_KEY:
            message = f"{key} is no setting of a topic{suggestion(key, TOPIC_BY_KEY)}"
            return Refused(INVALID_CONFIG, message)
    try:
        settings = layers.topics.overridden(texts)
    except SettingsRefused as refused:
        reasons = (f"{it.key}={it.value!r}: {it.reason}" for it in refused.problems)
        return Refused(INVALID_CONFIG, "; ".join(reasons))
    if settings.remote_storage_enable and not layers.broker.remote_log_storage_system_enable:
        return Refused(INVALID_CONFIG, "remote.storage.enable: this broker has no tiered storage")
    return dict(texts)
