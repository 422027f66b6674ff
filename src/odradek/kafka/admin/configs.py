"""Settings as the answers show them.

Kafka's own descriptions of what each is for are not repeated here: documentation is null, as
where it was not asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from odradek.kafka.settings.described import Described
from odradek.kafka.wire.messages.create_topics import CreatableTopicConfigs
from odradek.kafka.wire.messages.describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsSynonym,
)


def config_entries(
    described: Iterable[Described], keys: Collection[str] | None, *, include_synonyms: bool
) -> list[DescribeConfigsResourceResult]:
    """For DescribeConfigs; no keys, or none named, stand for all."""
    wanted = set(keys or ())
    return [
        DescribeConfigsResourceResult(
            name=it.key,
            value=it.value,
            read_only=it.is_read_only,
            config_source=it.source,
            is_sensitive=it.is_sensitive,
            synonyms=synonyms(it) if include_synonyms else [],
            config_type=it.type,
            documentation=None,
        )
        for it in described
        if not wanted or it.key in wanted
    ]


def synonyms(it: Described) -> list[DescribeConfigsSynonym]:
    return [
        DescribeConfigsSynonym(name=other.key, value=other.value, source=other.source)
        for other in it.synonyms
    ]


def created_entries(described: Iterable[Described]) -> list[CreatableTopicConfigs]:
    """For CreateTopics."""
    return [
        CreatableTopicConfigs(
            name=it.key,
            value=it.value,
            read_only=it.is_read_only,
            config_source=it.source,
            is_sensitive=it.is_sensitive,
        )
        for it in described
    ]
