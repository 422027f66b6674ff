"""How replicas follow leaders, and how leaders are chosen."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.kafka.settings.kinds import NATURAL, POSITIVE, POSITIVE_LONG
from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import setting
from odradek.runtime.kinds import BOOLEAN, INT, LONG, STRING


class ReplicationSettings(Chapter):
    """How followers fetch, and when they count as in sync."""

    replica_fetch_backoff_ms: int = setting("replica.fetch.backoff.ms", NATURAL, default=1000)
    replica_fetch_max_bytes: int = setting("replica.fetch.max.bytes", NATURAL, default=1 << 20)
    replica_fetch_min_bytes: int = setting("replica.fetch.min.bytes", INT, default=1)
    replica_fetch_response_max_bytes: int = setting(
        "replica.fetch.response.max.bytes", NATURAL, default=10 << 20
    )
    replica_fetch_wait_max_ms: int = setting("replica.fetch.wait.max.ms", INT, default=500)
    replica_high_watermark_checkpoint_interval_ms: int = setting(
        "replica.high.watermark.checkpoint.interval.ms", LONG, default=5000
    )
    replica_lag_time_max_ms: int = setting("replica.lag.time.max.ms", LONG, default=30_000)
    replica_selector_class: str | None = setting("replica.selector.class", STRING, default=None)
    replica_socket_receive_buffer_bytes: int = setting(
        "replica.socket.receive.buffer.bytes", INT, default=64 << 10
    )
    replica_socket_timeout_ms: int = setting("replica.socket.timeout.ms", INT, default=30_000)
    num_replica_fetchers: int = setting("num.replica.fetchers", INT, default=1)
    min_insync_replicas: int = setting("min.insync.replicas", POSITIVE, default=1)

    def disagreements(self) -> Iterator[tuple[str, str]]:
        wait_ms = self.replica_fetch_wait_max_ms
        if wait_ms > self.replica_socket_timeout_ms:
            yield "replica.fetch.wait.max.ms", "must not exceed replica.socket.timeout.ms"
        if wait_ms > self.replica_lag_time_max_ms:
            yield "replica.fetch.wait.max.ms", "must not exceed replica.lag.time.max.ms"


class LeadershipSettings(Chapter):
    """Who leads, and how a broker hands over."""

    unclean_leader_election_enable: bool = setting(
        "unclean.leader.election.enable", BOOLEAN, default=False
    )
    unclean_leader_election_interval_ms: int = setting(
        "unclean.leader.election.interval.ms", POSITIVE_LONG, default=300_000
    )
    leader_imbalance_check_interval_seconds: int = setting(
        "leader.imbalance.check.interval.seconds", POSITIVE_LONG, default=300
    )
    leader_imbalance_per_broker_percentage: int = setting(
        "leader.imbalance.per.broker.percentage", INT, default=10
    )
    auto_leader_rebalance_enable: bool = setting(
        "auto.leader.rebalance.enable", BOOLEAN, default=True
    )
    controlled_shutdown_enable: bool = setting("controlled.shutdown.enable", BOOLEAN, default=True)
    controlled_shutdown_max_retries: int = setting(
        "controlled.shutdown.max.retries", INT, default=3
    )
    controlled_shutdown_retry_backoff_ms: int = setting(
        "controlled.shutdown.retry.backoff.ms", LONG, default=5000
    )
    controller_socket_timeout_ms: int = setting("controller.socket.timeout.ms", INT, default=30_000)
