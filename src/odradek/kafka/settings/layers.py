"""What a broker's settings are made of, and which of them counts.

    said of this broker  >  said of all brokers  >  the file  >  default

The first two are kept in ZooKeeper and change while the broker runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from odradek.kafka.settings.broker import BY_KEY, BrokerSettings
from odradek.kafka.settings.dynamic import declaration_of, is_hidden
from odradek.kafka.settings.sources import OF_A_BROKER, Source, Synonym
from odradek.kafka.settings.synonyms import BROKER_KEYS, other_units_of, synonyms_of
from odradek.kafka.settings.texts import text_of
from odradek.kafka.settings.topic import TopicSettings
from odradek.runtime.declarations import TRIMMED
from odradek.runtime.properties import Entry, Properties

OF_ALL = "/config/brokers/<default>"
OF_ONE = "/config/brokers"


@dataclass(frozen=True)
class Layers:
    """The settings of one broker by their sources. A change brings a new one."""

    file: BrokerSettings
    of_all: Mapping[str, str] = field(default_factory=dict, repr=False)  # Secrets may be in them.
    of_one: Mapping[str, str] = field(default_factory=dict, repr=False)

    @cached_property
    def broker(self) -> BrokerSettings:
        """What counts. Raises `SettingsRefused` when first asked for, if it cannot be used."""
        if not self.of_all and not self.of_one:
            return self.file
        properties = overlaid(self.file.properties, self.of_all, OF_ALL)
        return BrokerSettings(overlaid(properties, self.of_one, OF_ONE))

    @cached_property
    def topics(self) -> TopicSettings:
        """What holds for every topic that does not say otherwise."""
        return TopicSettings.of_broker(self.broker)

    @cached_property
    def topic_synonyms(self) -> Mapping[str, tuple[Synonym, ...]]:
        """By a topic's key: what it inherits, or would if it said nothing."""
        return {key: self.synonyms(broker_key) for key, broker_key in BROKER_KEYS.items()}

    def synonyms(self, key: str, sources: tuple[Source, ...] = OF_A_BROKER) -> tuple[Synonym, ...]:
        """Every value that the key or one like it was given, the strongest first.

        Those before the key's own first are left out: they are of another unit or listener.
        """
        is_sensitive = is_hidden(declaration_of(key))
        found = [
            Synonym(name, None if is_sensitive else text, source)
            for source in sources
            for name in synonyms_of(key)
            if (text := self.text(source, name)) is not None
        ]
        names = [it.key for it in found]
        return tuple(found[names.index(key) :]) if key in names else ()

    def text(self, source: Source, key: str) -> str | None:
        """What one source says of a key."""
        if source is Source.DYNAMIC_BROKER:
            return self.of_one.get(key)
        if source is Source.DYNAMIC_DEFAULT_BROKER:
            return self.of_all.get(key)
        if source is Source.STATIC_BROKER:
            entry = self.file.properties.entries.get(key)
            return entry.value.strip(TRIMMED) if entry else None
        return text_of(BY_KEY[key].default) if key in BY_KEY else None


def overlaid(properties: Properties, texts: Mapping[str, str], source: str) -> Properties:
    """A time in one unit hides the same in another, or the lesser might win."""
    hidden = {unit for key in texts for unit in other_units_of(key)}
    entries = {key: it for key, it in properties.entries.items() if key not in hidden}
    entries |= {key: Entry(key, text, source) for key, text in texts.items()}
    return Properties(properties.file, entries, properties.problems, properties.warnings)
