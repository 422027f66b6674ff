"""Keys of a cluster without ZooKeeper: read and checked, for files are shared, but not served."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.kafka.settings.kinds import (
    DAY_MS,
    LONG_MAX,
    NATURAL,
    NATURAL_LONG,
    POSITIVE,
    POSITIVE_LONG,
    VOTERS,
)
from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import HOUR_MS, setting
from odradek.runtime.kinds import BOOLEAN, INT, LIST, LONG, STRING


class QuorumSettings(Chapter):
    """The controllers of such a cluster."""

    process_roles: tuple[str, ...] = setting(
        "process.roles", LIST.items_of("broker", "controller"), default=()
    )
    given_node_id: int = setting("node.id", INT, default=-1)
    controller_listener_names: str | None = setting(
        "controller.listener.names", STRING, default=None
    )
    controller_quorum_append_linger_ms: int = setting(
        "controller.quorum.append.linger.ms", INT, default=25
    )
    controller_quorum_bootstrap_servers: tuple[str, ...] = setting(
        "controller.quorum.bootstrap.servers", LIST, default=()
    )
    controller_quorum_election_backoff_max_ms: int = setting(
        "controller.quorum.election.backoff.max.ms", INT, default=1000
    )
    controller_quorum_election_timeout_ms: int = setting(
        "controller.quorum.election.timeout.ms", INT, default=1000
    )
    controller_quorum_fetch_timeout_ms: int = setting(
        "controller.quorum.fetch.timeout.ms", INT, default=2000
    )
    controller_quorum_request_timeout_ms: int = setting(
        "controller.quorum.request.timeout.ms", INT, default=2000
    )
    controller_quorum_retry_backoff_ms: int = setting(
        "controller.quorum.retry.backoff.ms", INT, default=20
    )
    controller_quorum_voters: tuple[str, ...] = setting(
        "controller.quorum.voters", VOTERS, default=()
    )

    def disagreements(self) -> Iterator[tuple[str, str]]:
        if self.process_roles:
            yield "process.roles", "asks for KRaft, but Odradek keeps its metadata in ZooKeeper"
        if self.controller_listener_names:
            yield "controller.listener.names", "must not be given where ZooKeeper is used"


class MetadataLogSettings(Chapter):
    """The log in which they keep what ZooKeeper keeps for us."""

    metadata_log_dir: str | None = setting("metadata.log.dir", STRING, default=None)
    metadata_log_max_record_bytes_between_snapshots: int = setting(
        "metadata.log.max.record.bytes.between.snapshots", POSITIVE_LONG, default=20 << 20
    )
    metadata_log_max_snapshot_interval_ms: int = setting(
        "metadata.log.max.snapshot.interval.ms", NATURAL_LONG, default=HOUR_MS
    )
    metadata_log_segment_bytes: int = setting(
        "metadata.log.segment.bytes", INT.at_least(12), default=1 << 30
    )
    metadata_log_segment_min_bytes: int = setting(
        "metadata.log.segment.min.bytes", INT.at_least(12), default=8 << 20
    )
    metadata_log_segment_ms: int = setting("metadata.log.segment.ms", LONG, default=7 * DAY_MS)
    metadata_max_idle_interval_ms: int = setting(
        "metadata.max.idle.interval.ms", NATURAL, default=500
    )
    metadata_max_retention_bytes: int = setting(
        "metadata.max.retention.bytes", LONG, default=100 << 20
    )
    metadata_max_retention_ms: int = setting("metadata.max.retention.ms", LONG, default=7 * DAY_MS)
    eligible_leader_replicas_enable: bool = setting(
        "eligible.leader.replicas.enable", BOOLEAN, default=False
    )
    unstable_api_versions_enable: bool = setting(
        "unstable.api.versions.enable", BOOLEAN, default=False
    )
    unstable_feature_versions_enable: bool = setting(
        "unstable.feature.versions.enable", BOOLEAN, default=False
    )
    server_max_startup_time_ms: int = setting(
        "server.max.startup.time.ms", NATURAL_LONG, default=LONG_MAX
    )
    early_start_listeners: str | None = setting("early.start.listeners", STRING, default=None)
    broker_heartbeat_interval_ms: int = setting("broker.heartbeat.interval.ms", INT, default=2000)
    broker_session_timeout_ms: int = setting("broker.session.timeout.ms", INT, default=9000)
    initial_broker_registration_timeout_ms: int = setting(
        "initial.broker.registration.timeout.ms", INT, default=60_000
    )
    zookeeper_metadata_migration_enable: bool = setting(
        "zookeeper.metadata.migration.enable", BOOLEAN, default=False
    )
    zookeeper_metadata_migration_min_batch_size: int = setting(
        "zookeeper.metadata.migration.min.batch.size", POSITIVE, default=200
    )
    alter_config_policy_kraft_compatibility_enable: bool = setting(
        "alter.config.policy.kraft.compatibility.enable", BOOLEAN, default=False
    )

    def disagreements(self) -> Iterator[tuple[str, str]]:
        if self.zookeeper_metadata_migration_enable:
            yield "zookeeper.metadata.migration.enable", "leads to KRaft, where Odradek cannot go"
