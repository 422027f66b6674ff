"""How many connections there may be, and what a request may weigh."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from odradek.kafka.settings.kinds import (
    CONNECTION_LIMITS,
    INT_MAX,
    NATURAL,
    POSITIVE,
    read_connection_limits,
)
from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import setting
from odradek.runtime.kinds import INT, LONG


class ConnectionSettings(Chapter):
    """How many connections there may be, and for how long."""

    max_connections: int = setting("max.connections", NATURAL, default=INT_MAX)
    max_connections_per_ip: int = setting("max.connections.per.ip", NATURAL, default=INT_MAX)
    given_max_connections_per_ip_overrides: str = setting(
        "max.connections.per.ip.overrides", CONNECTION_LIMITS, default=""
    )
    max_connection_creation_rate: int = setting(
        "max.connection.creation.rate", NATURAL, default=INT_MAX
    )
    connections_max_idle_ms: int = setting("connections.max.idle.ms", LONG, default=600_000)
    connection_failed_authentication_delay_ms: int = setting(
        "connection.failed.authentication.delay.ms", NATURAL, default=100
    )

    @property
    def max_connections_per_ip_overrides(self) -> Mapping[str, int]:
        return read_connection_limits(self.given_max_connections_per_ip_overrides)

    def disagreements(self) -> Iterator[tuple[str, str]]:
        if self.max_connections_per_ip == 0 and not self.max_connections_per_ip_overrides:
            yield "max.connections.per.ip", "0 needs some max.connections.per.ip.overrides"
        idle_ms = self.connections_max_idle_ms
        if 0 <= idle_ms <= self.connection_failed_authentication_delay_ms:
            yield "connections.max.idle.ms", "must exceed connection.failed.authentication.delay.ms"


class SocketSettings(Chapter):
    """Buffers and patience of sockets."""

    socket_connection_setup_timeout_max_ms: int = setting(
        "socket.connection.setup.timeout.max.ms", LONG, default=30_000
    )
    socket_connection_setup_timeout_ms: int = setting(
        "socket.connection.setup.timeout.ms", LONG, default=10_000
    )
    socket_listen_backlog_size: int = setting("socket.listen.backlog.size", POSITIVE, default=50)
    socket_receive_buffer_bytes: int = setting(
        "socket.receive.buffer.bytes", INT, default=100 << 10
    )
    socket_request_max_bytes: int = setting("socket.request.max.bytes", POSITIVE, default=100 << 20)
    socket_send_buffer_bytes: int = setting("socket.send.buffer.bytes", INT, default=100 << 10)


class RequestSettings(Chapter):
    """How requests are taken in, and how large an answer may be."""

    num_network_threads: int = setting("num.network.threads", POSITIVE, default=3)
    num_io_threads: int = setting("num.io.threads", POSITIVE, default=8)
    background_threads: int = setting("background.threads", POSITIVE, default=10)
    queued_max_requests: int = setting("queued.max.requests", POSITIVE, default=500)
    queued_max_request_bytes: int = setting("queued.max.request.bytes", LONG, default=-1)
    request_timeout_ms: int = setting("request.timeout.ms", INT, default=30_000)
    fetch_max_bytes: int = setting("fetch.max.bytes", INT.at_least(1024), default=55 << 20)
    max_incremental_fetch_session_cache_slots: int = setting(
        "max.incremental.fetch.session.cache.slots", NATURAL, default=1000
    )
    max_request_partition_size_limit: int = setting(
        "max.request.partition.size.limit", POSITIVE, default=2000
    )
    delete_records_purgatory_purge_interval_requests: int = setting(
        "delete.records.purgatory.purge.interval.requests", INT, default=1
    )
    fetch_purgatory_purge_interval_requests: int = setting(
        "fetch.purgatory.purge.interval.requests", INT, default=1000
    )
    producer_purgatory_purge_interval_requests: int = setting(
        "producer.purgatory.purge.interval.requests", INT, default=1000
    )
