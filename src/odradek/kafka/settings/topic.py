"""The settings of one topic: its own, and for the rest what the broker says.

topic override  >  the broker's value for the key that means the same  >  default
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from odradek.kafka.settings.broker import FIELDS, BrokerSettings
from odradek.kafka.settings.kinds import (
    CLEANUP_POLICY,
    COMPRESSION_TYPE,
    DAY_MS,
    LONG_MAX,
    NATURAL,
    NATURAL_LONG,
    POSITIVE,
    POSITIVE_LONG,
    THROTTLED_REPLICAS,
    TIMESTAMP_TYPE,
    CompressionType,
    TimestampType,
)
from odradek.kafka.settings.records import limit_or_difference
from odradek.kafka.settings.synonyms import BROKER_KEYS
from odradek.kafka.settings.texts import text_of
from odradek.kafka.settings.versions import VERSION_TEXT
from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import Declaration, setting
from odradek.runtime.kinds import BOOLEAN, DOUBLE, INT, LONG
from odradek.runtime.properties import Properties
from odradek.runtime.settings import SettingsRefused


class TopicRecordSettings(Chapter):
    """What a batch of records may be like."""

    max_message_bytes: int = setting("max.message.bytes", NATURAL, default=1_048_588)
    compression_gzip_level: int = setting(
        "compression.gzip.level", INT.between(1, 9, or_else=-1), default=-1
    )
    compression_lz4_level: int = setting("compression.lz4.level", INT.between(1, 17), default=9)
    compression_type: CompressionType = setting(
        "compression.type", COMPRESSION_TYPE, default=CompressionType.PRODUCER
    )
    compression_zstd_level: int = setting(
        "compression.zstd.level", INT.between(-131072, 22), default=3
    )
    message_downconversion_enable: bool = setting(
        "message.downconversion.enable", BOOLEAN, default=True
    )
    message_format_version: str = setting("message.format.version", VERSION_TEXT, default="3.0-IV1")
    given_message_timestamp_after_max_ms: int = setting(
        "message.timestamp.after.max.ms", NATURAL_LONG, default=LONG_MAX
    )
    given_message_timestamp_before_max_ms: int = setting(
        "message.timestamp.before.max.ms", NATURAL_LONG, default=LONG_MAX
    )
    message_timestamp_difference_max_ms: int = setting(
        "message.timestamp.difference.max.ms", NATURAL_LONG, default=LONG_MAX
    )
    message_timestamp_type: TimestampType = setting(
        "message.timestamp.type", TIMESTAMP_TYPE, default=TimestampType.CREATE_TIME
    )


class TopicLogSettings(Chapter):
    """How the log rolls and is flushed, and when records go."""

    segment_bytes: int = setting("segment.bytes", INT.at_least(14), default=1 << 30)
    segment_index_bytes: int = setting("segment.index.bytes", INT.at_least(4), default=10 << 20)
    segment_jitter_ms: int = setting("segment.jitter.ms", NATURAL_LONG, default=0)
    segment_ms: int = setting("segment.ms", POSITIVE_LONG, default=7 * DAY_MS)
    index_interval_bytes: int = setting("index.interval.bytes", NATURAL, default=4 << 10)
    preallocate: bool = setting("preallocate", BOOLEAN, default=False)
    flush_messages: int = setting("flush.messages", POSITIVE_LONG, default=LONG_MAX)
    flush_ms: int = setting("flush.ms", NATURAL_LONG, default=LONG_MAX)
    retention_bytes: int = setting("retention.bytes", LONG, default=-1)
    retention_ms: int = setting("retention.ms", LONG.at_least(-1), default=7 * DAY_MS)
    file_delete_delay_ms: int = setting("file.delete.delay.ms", NATURAL_LONG, default=60_000)
    cleanup_policy: tuple[str, ...] = setting("cleanup.policy", CLEANUP_POLICY, default=("delete",))


class TopicCleaningSettings(Chapter):
    """How a compacted log is cleaned."""

    min_cleanable_dirty_ratio: float = setting(
        "min.cleanable.dirty.ratio", DOUBLE.between(0, 1), default=0.5
    )
    min_compaction_lag_ms: int = setting("min.compaction.lag.ms", NATURAL_LONG, default=0)
    max_compaction_lag_ms: int = setting("max.compaction.lag.ms", POSITIVE_LONG, default=LONG_MAX)
    delete_retention_ms: int = setting("delete.retention.ms", NATURAL_LONG, default=DAY_MS)


class TopicReplicationSettings(Chapter):
    """How replicas keep up, here and in tiered storage."""

    min_insync_replicas: int = setting("min.insync.replicas", POSITIVE, default=1)
    unclean_leader_election_enable: bool = setting(
        "unclean.leader.election.enable", BOOLEAN, default=False
    )
    leader_replication_throttled_replicas: tuple[str, ...] = setting(
        "leader.replication.throttled.replicas", THROTTLED_REPLICAS, default=()
    )
    follower_replication_throttled_replicas: tuple[str, ...] = setting(
        "follower.replication.throttled.replicas", THROTTLED_REPLICAS, default=()
    )
    remote_log_copy_disable: bool = setting("remote.log.copy.disable", BOOLEAN, default=False)
    remote_log_delete_on_disable: bool = setting(
        "remote.log.delete.on.disable", BOOLEAN, default=False
    )
    remote_storage_enable: bool = setting("remote.storage.enable", BOOLEAN, default=False)
    local_retention_bytes: int = setting("local.retention.bytes", LONG.at_least(-2), default=-2)
    local_retention_ms: int = setting("local.retention.ms", LONG.at_least(-2), default=-2)


class TopicSettings(
    TopicRecordSettings, TopicLogSettings, TopicCleaningSettings, TopicReplicationSettings
):
    """All that can be said of one topic; topics of which nothing is said share one."""

    @classmethod
    def of_broker(cls, broker: BrokerSettings) -> TopicSettings:
        """What holds for every topic that does not say otherwise."""
        texts = {
            key: text
            for key, broker_key in BROKER_KEYS.items()
            if (text := text_of(value_for_topics(broker, broker_key))) is not None
        }
        return cls(Properties.of(texts, broker.properties.file))

    def overridden(self, overrides: Mapping[str, str], topic: str = "") -> TopicSettings:
        """These, but for what a topic says of itself. Raises `SettingsRefused`."""
        if not overrides:
            return self
        own = Properties.of(overrides, f"topic {topic}")
        problems = list(own.problems)
        given = [(name, it) for name, it in self.declared.items() if it.key in overrides]
        settings = object.__new__(TopicSettings)
        vars(settings).update(vars(self))
        vars(settings).update((name, it.read(own, problems)) for name, it in given)
        problems = problems or list(settings._disagreements(own))
        if problems:
            raise SettingsRefused(problems)
        return settings

    @property
    def is_deleted(self) -> bool:
        return "delete" in self.cleanup_policy

    @property
    def is_compacted(self) -> bool:
        return "compact" in self.cleanup_policy

    @property
    def message_timestamp_before_max_ms(self) -> int:
        return limit_or_difference(
            self.given_message_timestamp_before_max_ms, self.message_timestamp_difference_max_ms
        )

    @property
    def message_timestamp_after_max_ms(self) -> int:
        return limit_or_difference(
            self.given_message_timestamp_after_max_ms, self.message_timestamp_difference_max_ms
        )

    def disagreements(self) -> Iterator[tuple[str, str]]:
        if self.min_compaction_lag_ms > self.max_compaction_lag_ms:
            yield "min.compaction.lag.ms", "must not exceed max.compaction.lag.ms"


def value_for_topics(broker: BrokerSettings, key: str) -> object:
    """What a broker's key means to topics: a time may have been given in another unit."""
    value: object = getattr(broker, FIELDS[key].removeprefix("given_"))
    return value


TOPIC_BY_KEY: Mapping[str, Declaration] = {it.key: it for it in TopicSettings.declared.values()}
TOPIC_FIELDS: Mapping[str, str] = {it.key: name for name, it in TopicSettings.declared.items()}
