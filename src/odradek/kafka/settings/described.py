"""Settings as DescribeConfigs shows them: each with its source, its type, and what it hides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import NamedTuple

from odradek.kafka.settings.broker import BY_KEY, FIELDS
from odradek.kafka.settings.dynamic import declaration_of, is_hidden, is_read_only
from odradek.kafka.settings.layers import Layers
from odradek.kafka.settings.sources import Source, Synonym
from odradek.kafka.settings.texts import text_of
from odradek.kafka.settings.topic import TOPIC_BY_KEY, TOPIC_FIELDS
from odradek.runtime.declarations import Declaration

# Kafka has these for its own tests, and shows them only where they were given.
INTERNAL = frozenset(
    {
        "group.consumer.migration.policy",
        "group.coordinator.new.enable",
        "group.share.enable",
        "log.initial.task.delay.ms",
        "metadata.log.segment.min.bytes",
        "producer.id.expiration.check.interval.ms",
        "remote.log.manager.task.retry.backoff.max.ms",
        "remote.log.manager.task.retry.backoff.ms",
        "remote.log.manager.task.retry.jitter",
        "server.max.startup.time.ms",
        "unclean.leader.election.interval.ms",
        "unstable.api.versions.enable",
        "unstable.feature.versions.enable",
        "zookeeper.metadata.migration.min.batch.size",
    }
)


class ConfigType(IntEnum):
    """What a value is, as a number that travels. The names are those of the kinds."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class Described(NamedTuple):
    """One setting, for those who ask; the first synonym is the one that counts."""

    key: str
    value: str | None
    source: Source
    type: ConfigType
    is_read_only: bool
    is_sensitive: bool
    synonyms: tuple[Synonym, ...]


def describe_broker(layers: Layers) -> Iterator[Described]:
    """All settings of a broker, also those that only a plugin knows."""
    given = layers.broker.properties.entries
    yield from (broker_entry(layers, key) for key in BY_KEY if key not in INTERNAL or key in given)
    yield from (broker_entry(layers, key) for key in given if key not in BY_KEY)


def describe_all_brokers(layers: Layers) -> Iterator[Described]:
    """What was said of all brokers at once, and nothing else."""
    for key, text in layers.of_all.items():
        synonyms = layers.synonyms(key, (Source.DYNAMIC_DEFAULT_BROKER,))
        yield described(key, text, declaration_of(key), synonyms, is_read_only(key))


def describe_topic(layers: Layers, overrides: Mapping[str, str]) -> Iterator[Described]:
    """All settings of a topic that has these of its own."""
    settings = layers.topics.overridden(overrides)
    for key, declaration in TOPIC_BY_KEY.items():
        text = text_of(getattr(settings, TOPIC_FIELDS[key]))
        own = (Synonym(key, text, Source.TOPIC),) if key in overrides else ()
        synonyms = own + layers.topic_synonyms.get(key, ())
        yield described(key, text, declaration, synonyms, False)


def broker_entry(layers: Layers, key: str) -> Described:
    text = (
        text_of(getattr(layers.broker, FIELDS[key]))
        if key in FIELDS
        else layers.broker.properties.entries[key].value
    )
    return described(key, text, declaration_of(key), layers.synonyms(key), is_read_only(key))


def described(
    key: str,
    text: str | None,
    declaration: Declaration | None,
    synonyms: tuple[Synonym, ...],
    is_read_only: bool,
) -> Described:
    is_sensitive = is_hidden(declaration)
    return Described(
        key,
        None if is_sensitive else text,
        synonyms[0].source if synonyms else Source.DEFAULT,
        ConfigType[declaration.kind.name] if declaration else ConfigType.UNKNOWN,
        is_read_only,
        is_sensitive,
        synonyms,
    )
