"""Consumer groups: how members are kept together."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.kafka.settings.kinds import INT_MAX, MIGRATION_POLICY, NATURAL, POSITIVE
from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import setting
from odradek.runtime.kinds import BOOLEAN, INT, LIST, SHORT


class GroupSettings(Chapter):
    """The classic groups, and the coordinator itself."""

    group_initial_rebalance_delay_ms: int = setting(
        "group.initial.rebalance.delay.ms", INT, default=3000
    )
    group_max_session_timeout_ms: int = setting(
        "group.max.session.timeout.ms", INT, default=1_800_000
    )
    group_max_size: int = setting("group.max.size", POSITIVE, default=INT_MAX)
    group_min_session_timeout_ms: int = setting("group.min.session.timeout.ms", INT, default=6000)
    group_coordinator_append_linger_ms: int = setting(
        "group.coordinator.append.linger.ms", NATURAL, default=10
    )
    group_coordinator_new_enable: bool = setting(
        "group.coordinator.new.enable", BOOLEAN, default=False
    )
    group_coordinator_rebalance_protocols: tuple[str, ...] = setting(
        "group.coordinator.rebalance.protocols",
        LIST.items_of("consumer", "classic", "share", "unknown"),
        default=("classic",),
    )
    group_coordinator_threads: int = setting("group.coordinator.threads", POSITIVE, default=1)

    def disagreements(self) -> Iterator[tuple[str, str]]:
        protocols = self.group_coordinator_rebalance_protocols
        if "classic" not in protocols:
            yield "group.coordinator.rebalance.protocols", "must contain classic"
        if "consumer" in protocols:
            yield "group.coordinator.rebalance.protocols", "consumer needs KRaft"


class ConsumerGroupSettings(Chapter):
    """Groups of the newer protocol (KIP-848)."""

    group_consumer_assignors: tuple[str, ...] = setting(
        "group.consumer.assignors",
        LIST,
        default=(
            "org.apache.kafka.coordinator.group.assignor.UniformAssignor",
            "org.apache.kafka.coordinator.group.assignor.RangeAssignor",
        ),
    )
    group_consumer_heartbeat_interval_ms: int = setting(
        "group.consumer.heartbeat.interval.ms", POSITIVE, default=5000
    )
    group_consumer_max_heartbeat_interval_ms: int = setting(
        "group.consumer.max.heartbeat.interval.ms", POSITIVE, default=15_000
    )
    group_consumer_max_session_timeout_ms: int = setting(
        "group.consumer.max.session.timeout.ms", POSITIVE, default=60_000
    )
    group_consumer_max_size: int = setting("group.consumer.max.size", POSITIVE, default=INT_MAX)
    group_consumer_migration_policy: str = setting(
        "group.consumer.migration.policy", MIGRATION_POLICY, default="disabled"
    )
    group_consumer_min_heartbeat_interval_ms: int = setting(
        "group.consumer.min.heartbeat.interval.ms", POSITIVE, default=5000
    )
    group_consumer_min_session_timeout_ms: int = setting(
        "group.consumer.min.session.timeout.ms", POSITIVE, default=45_000
    )
    group_consumer_session_timeout_ms: int = setting(
        "group.consumer.session.timeout.ms", POSITIVE, default=45_000
    )

    def disagreements(self) -> Iterator[tuple[str, str]]:
        yield from misplaced(
            "group.consumer.{}heartbeat.interval.ms",
            self.group_consumer_min_heartbeat_interval_ms,
            self.group_consumer_heartbeat_interval_ms,
            self.group_consumer_max_heartbeat_interval_ms,
        )
        yield from misplaced(
            "group.consumer.{}session.timeout.ms",
            self.group_consumer_min_session_timeout_ms,
            self.group_consumer_session_timeout_ms,
            self.group_consumer_max_session_timeout_ms,
        )


class ShareGroupSettings(Chapter):
    """Groups whose members share partitions (KIP-932)."""

    group_share_delivery_count_limit: int = setting(
        "group.share.delivery.count.limit", INT.between(2, 10), default=5
    )
    group_share_enable: bool = setting("group.share.enable", BOOLEAN, default=False)
    group_share_heartbeat_interval_ms: int = setting(
        "group.share.heartbeat.interval.ms", POSITIVE, default=5000
    )
    group_share_max_groups: int = setting(
        "group.share.max.groups", SHORT.between(1, 100), default=10
    )
    group_share_max_heartbeat_interval_ms: int = setting(
        "group.share.max.heartbeat.interval.ms", POSITIVE, default=15_000
    )
    group_share_max_record_lock_duration_ms: int = setting(
        "group.share.max.record.lock.duration.ms", INT.between(30_000, 3_600_000), default=60_000
    )
    group_share_max_session_timeout_ms: int = setting(
        "group.share.max.session.timeout.ms", POSITIVE, default=60_000
    )
    group_share_max_size: int = setting(
        "group.share.max.size", SHORT.between(10, 1000), default=200
    )
    group_share_min_heartbeat_interval_ms: int = setting(
        "group.share.min.heartbeat.interval.ms", POSITIVE, default=5000
    )
    group_share_min_record_lock_duration_ms: int = setting(
        "group.share.min.record.lock.duration.ms", INT.between(1000, 30_000), default=15_000
    )
    group_share_min_session_timeout_ms: int = setting(
        "group.share.min.session.timeout.ms", POSITIVE, default=45_000
    )
    group_share_partition_max_record_locks: int = setting(
        "group.share.partition.max.record.locks", INT.between(100, 10_000), default=200
    )
    group_share_record_lock_duration_ms: int = setting(
        "group.share.record.lock.duration.ms", INT.between(1000, 60_000), default=30_000
    )
    group_share_session_timeout_ms: int = setting(
        "group.share.session.timeout.ms", POSITIVE, default=45_000
    )

    def disagreements(self) -> Iterator[tuple[str, str]]:
        yield from misplaced(
            "group.share.{}heartbeat.interval.ms",
            self.group_share_min_heartbeat_interval_ms,
            self.group_share_heartbeat_interval_ms,
            self.group_share_max_heartbeat_interval_ms,
        )
        yield from misplaced(
            "group.share.{}session.timeout.ms",
            self.group_share_min_session_timeout_ms,
            self.group_share_session_timeout_ms,
            self.group_share_max_session_timeout_ms,
        )
        yield from misplaced(
            "group.share.{}record.lock.duration.ms",
            self.group_share_min_record_lock_duration_ms,
            self.group_share_record_lock_duration_ms,
            self.group_share_max_record_lock_duration_ms,
        )


def misplaced(key: str, least: int, value: int, most: int) -> Iterator[tuple[str, str]]:
    """What is wrong with three values that must stand in this order."""
    if least > most:
        yield key.format("min."), f"must not exceed {key.format('max.')}, which is {most}"
    elif not least <= value <= most:
        bounds = f"{key.format('min.')} to {key.format('max.')}"
        yield key.format(""), f"must be from {bounds}, {least} to {most}"
