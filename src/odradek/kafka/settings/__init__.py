"""What a server.properties says, what was said since, and what a topic says of itself: typed."""

from odradek.kafka.settings.alterations import (
    INVALID_CONFIG,
    INVALID_REQUEST,
    Alteration,
    Operation,
    Refused,
)
from odradek.kafka.settings.broker import BrokerSettings
from odradek.kafka.settings.broker_alterations import (
    decide_broker_alterations,
    decide_broker_settings,
    usable,
)
from odradek.kafka.settings.described import (
    ConfigType,
    Described,
    describe_all_brokers,
    describe_broker,
    describe_topic,
)
from odradek.kafka.settings.endpoints import Endpoint, SecurityProtocol
from odradek.kafka.settings.kinds import ClientAuth, CompressionType, TimestampType
from odradek.kafka.settings.layers import Layers
from odradek.kafka.settings.loading import load
from odradek.kafka.settings.sources import Source, Synonym
from odradek.kafka.settings.topic import TopicSettings
from odradek.kafka.settings.topic_alterations import (
    decide_topic_alterations,
    decide_topic_settings,
)
from odradek.kafka.settings.versions import Version
from odradek.kafka.settings.without_effect import WITHOUT_EFFECT_YET

__all__ = [
    "INVALID_CONFIG",
    "INVALID_REQUEST",
    "WITHOUT_EFFECT_YET",
    "Alteration",
    "BrokerSettings",
    "ClientAuth",
    "CompressionType",
    "ConfigType",
    "Described",
    "Endpoint",
    "Layers",
    "Operation",
    "Refused",
    "SecurityProtocol",
    "Source",
    "Synonym",
    "TimestampType",
    "TopicSettings",
    "Version",
    "decide_broker_alterations",
    "decide_broker_settings",
    "decide_topic_alterations",
    "decide_topic_settings",
    "describe_all_brokers",
    "describe_broker",
    "describe_topic",
    "load",
    "usable",
]
