"""The limits of what is copied between brokers, and between the directories of one.

They are said of brokers and of topics, like other settings, and change while copying goes on: an
administrator limits a reassignment, and lifts the limit once it is over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from odradek.kafka.quotas.rates import Windows
from odradek.kafka.quotas.replication import UNLIMITED, ReplicationQuota
from odradek.kafka.settings.dynamic import THROTTLES
from odradek.kafka.settings.sources import Source
from odradek.runtime.clock import loop_ms

if TYPE_CHECKING:
    from odradek.kafka.broker.configs import Configs
    from odradek.kafka.settings import BrokerSettings

LEADER_RATE = "leader.replication.throttled.rate"
FOLLOWER_RATE = "follower.replication.throttled.rate"
LOG_DIRS_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
BY_DEFAULT = Windows(11, 1000)


class ReplicationQuotas:
    """The three kinds of copying of one broker."""

    def __init__(self) -> None:
        self.now_ms: Callable[[], float] = loop_ms
        self._cut_time(BY_DEFAULT, BY_DEFAULT)

    def _cut_time(self, windows: Windows, log_dirs_windows: Windows) -> None:
        self.leader = ReplicationQuota(windows)  # What followers fetch here.
        self.follower = ReplicationQuota(windows)  # What is fetched from leaders.
        self.log_dirs = ReplicationQuota(log_dirs_windows)  # All moves between directories.

    def follow(self, configs: Configs, settings: BrokerSettings, broker_id: int) -> None:
        """Know what is said now, and from now on."""
        self._cut_time(
            Windows(
                settings.replication_quota_window_num,
                settings.replication_quota_window_size_seconds * 1000,
            ),
            Windows(
                settings.alter_log_dirs_replication_quota_window_num,
                settings.alter_log_dirs_replication_quota_window_size_seconds * 1000,
            ),
        )
        for topic in configs.topics:
            self._choose(configs, topic, broker_id)
        self._limit(configs)
        configs.changed.append(lambda path: self._changed(configs, path, broker_id))

    def _changed(self, configs: Configs, entity_path: str, broker_id: int) -> None:
        kind, _, name = entity_path.partition("/")
        if kind == "topics":
            self._choose(configs, name, broker_id)
        elif kind == "brokers":
            self._limit(configs)

    def _choose(self, configs: Configs, topic: str, broker_id: int) -> None:
        said = configs.topic_settings(topic)
        self.leader.choose(topic, said.leader_replication_throttled_replicas, broker_id)
        self.follower.choose(topic, said.follower_replication_throttled_replicas, broker_id)

    def _limit(self, configs: Configs) -> None:
        self.leader.limit = limit_of(configs, LEADER_RATE)
        self.follower.limit = limit_of(configs, FOLLOWER_RATE)
        self.log_dirs.limit = limit_of(configs, LOG_DIRS_RATE)

    # What is asked while copying

    def is_held_by_leader(self, topic: str, partition: int, *, is_in_sync: bool) -> bool:
        """Whether a follower gets nothing of this partition just now."""
        quota = self.leader
        if is_in_sync or not quota.covers(topic, partition):
            return False
        return quota.pause_ms(self.now_ms()) > 0

    def count_sent(self, topic: str, partition: int, bytes_count: int) -> None:
        if self.leader.covers(topic, partition):
            self.leader.record(bytes_count, self.now_ms())

    def follower_pause_ms(self, topic: str, partition: int, *, is_in_sync: bool) -> int:
        """For how long this partition is not to be fetched."""
        quota = self.follower
        if is_in_sync or not quota.covers(topic, partition):
            return 0
        return quota.pause_ms(self.now_ms())

    def count_fetched(self, topic: str, partition: int, bytes_count: int) -> None:
        if self.follower.covers(topic, partition):
            self.follower.record(bytes_count, self.now_ms())


def limit_of(configs: Configs, key: str) -> int:
    """What is said of this broker, or of all: a file has no say in it."""
    for source in (Source.DYNAMIC_BROKER, Source.DYNAMIC_DEFAULT_BROKER):
        if (text := configs.layers.text(source, key)) is not None:
            try:
                return int(THROTTLES[key].kind.read(text))
            except ValueError:
                return UNLIMITED  # Whoever wrote this to ZooKeeper, it was no broker.
    return UNLIMITED
