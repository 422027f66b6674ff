"""The figures of a server by the names that monitors know: `mntr`, `monitor`, Prometheus.

There are only figures that mean something here: those of a JVM's queues and threads have no place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from odradek.runtime.instruments import Counter, Gauge, Sample
from odradek.runtime.metrics import Computed, Labels, Metrics
from odradek.zookeeper.server.distribution import BASIC, Distribution
from odradek.zookeeper.server.environment import open_files
from odradek.zookeeper.server.overview import Overview
from odradek.zookeeper.server.standing import LED_GAUGES, Standing
from odradek.zookeeper.server.version import FULL_VERSION
from odradek.zookeeper.wire.codes import EventType

if TYPE_CHECKING:
    from prometheus_client import Metric

Value = int | float | str
PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}


class Reading:
    """One look at a server: what is summed over all connections is summed once for all figures."""

    def __init__(self, overview: Overview) -> None:
        self.overview = overview
        self.clients = overview.clients
        self.pipeline = overview.clients.pipeline
        self.snapshots = overview.snapshots
        self.counts = overview.clients.stats.counts
        self.tally = overview.tally()
        self.requests = self.tally.requests()


def values(overview: Overview) -> Iterator[tuple[str, Value]]:
    """All figures, with the names that they have beside Prometheus."""
    reading = Reading(overview)
    yield "version", FULL_VERSION
    yield "server_state", overview.mode
    if overview.standing is not None:
        yield "peer_state", overview.standing.peer_state
        yield from overview.standing.gauges()
        yield from overview.standing.counters()
    for name, read in (GAUGES | COUNTERS).items():
        yield name, read(reading)
    for name, distribution in SUMMARIES.items():
        yield from parts_of(name, distribution(reading))


def parts_of(name: str, seen: Distribution) -> Iterator[tuple[str, Value]]:
    yield f"avg_{name}", seen.mean
    yield f"min_{name}", seen.least
    yield f"max_{name}", seen.most
    yield f"cnt_{name}", seen.count
    yield f"sum_{name}", seen.total
    if seen.quantiles != BASIC:
        for prefix, share in PERCENTILES.items():
            yield f"{prefix}_{name}", seen.quantile(share)


class ServerMetrics(Metrics):
    """The same for Prometheus. Nothing is kept: all is worked out when somebody asks."""

    def __init__(self, overview: Overview) -> None:
        super().__init__()
        self._overview = overview
        self._reading = Reading(overview)
        for name, read in GAUGES.items():
            self._declare(name, name, Gauge.kind, (), Computed(partial(self._value, read)))
        for name, count in COUNTERS.items():
            self._declare(name, name, Counter.kind, (), Computed(partial(self._value, count)))
        for name, distribution in SUMMARIES.items():
            summary = ComputedSummary(partial(self._distribution, distribution))
            self._declare(name, name, Distribution.kind, (), summary)
        if overview.standing is not None:
            self._declare_standing(overview.standing)

    def _declare_standing(self, standing: Standing) -> None:
        """What only a leader counts has no value while another leads."""
        for name in LED_GAUGES:
            gauge = Computed(partial(value_of, standing.gauges, name))
            self._declare(name, name, Gauge.kind, (), gauge)
        for name, _ in standing.counters():
            counter = Computed(partial(value_of, standing.counters, name))
            self._declare(name, name, Counter.kind, (), counter)

    def collect(self) -> Iterator[Metric]:
        self._reading = Reading(self._overview)
        return super().collect()

    def _value(self, read: Callable[[Reading], float]) -> Mapping[Labels, float]:
        return {(): read(self._reading)}

    def _distribution(self, read: Callable[[Reading], Distribution]) -> Distribution:
        return read(self._reading)


def value_of(figures: Callable[[], Iterable[tuple[str, int]]], name: str) -> Mapping[Labels, float]:
    values = dict(figures())
    return {(): values[name]} if name in values else {}


@dataclass(frozen=True, slots=True)
class ComputedSummary:
    """A distribution that is gathered when somebody asks."""

    compute: Callable[[], Distribution]

    def samples(self) -> Iterator[tuple[Labels, Sample]]:
        for sample in self.compute().samples():
            yield (), sample


def watchers_told(reading: Reading, event: EventType) -> Distribution:
    return reading.counts.watchers_told[event]


def ephemerals_count(reading: Reading) -> int:
    return sum(map(len, reading.clients.tree.ephemerals.values()))


GAUGES: dict[str, Callable[[Reading], float]] = {
    "ephemerals_count": ephemerals_count,
    "num_alive_connections": lambda it: len(it.clients.connections),
    "avg_latency": lambda it: it.requests.mean,
    "outstanding_requests": lambda it: it.overview.outstanding,
    "znode_count": lambda it: len(it.clients.tree),
    "global_sessions": lambda it: len(it.clients.sessions.by_id),
    "non_mtls_remote_conn_count": lambda it: 0,
    "last_client_response_size": lambda it: it.counts.last_response_bytes,
    "packets_sent": lambda it: it.tally.sent,
    "packets_received": lambda it: it.tally.received,
    "max_client_response_size": lambda it: it.counts.most_response_bytes,
    "connection_drop_probability": lambda it: 0.0,
    "watch_count": lambda it: it.clients.watches.count(),
    "auth_failed_count": lambda it: it.clients.stats.auth_failed_count,
    "min_latency": lambda it: it.requests.least,
    "max_file_descriptor_count": lambda it: open_files()[1],
    "approximate_data_size": lambda it: it.clients.tree.data_bytes,
    "open_file_descriptor_count": lambda it: open_files()[0],
    "local_sessions": lambda it: len(it.clients.local.by_id),
    "uptime": lambda it: it.overview.uptime_ms,
    "max_latency": lambda it: it.requests.most,
    "outstanding_tls_handshake": lambda it: 0,
    "min_client_response_size": lambda it: it.counts.least_response_bytes,
    "non_mtls_local_conn_count": lambda it: 0,
}
COUNTERS: dict[str, Callable[[Reading], int]] = {
    "watch_bytes": lambda it: it.counts.watch_bytes,
    "connection_rejected": lambda it: it.counts.connection_rejected,
    "sessionless_connections_expired": lambda it: it.counts.sessionless_connections_expired,
    "connection_drop_count": lambda it: it.counts.connection_drop_count,
    "connection_request_count": lambda it: it.counts.connection_request_count,
    "stale_sessions_expired": lambda it: it.counts.stale_sessions_expired,
    "bytes_received_count": lambda it: it.tally.bytes_received,
    "response_bytes": lambda it: it.tally.bytes_sent - it.counts.watch_bytes,
    "sync_processor_request_queued": lambda it: it.pipeline.batch_sizes.total,
    "snapshot_error_count": lambda it: it.snapshots.failed_count,
    "snapshot_rate_limited_count": lambda it: it.counts.snapshot_rate_limited_count,
}
SUMMARIES: dict[str, Callable[[Reading], Distribution]] = {
    "fsynctime": lambda it: it.pipeline.sync_ms,
    "sync_processor_batch_size": lambda it: it.pipeline.batch_sizes,
    "snapshottime": lambda it: it.snapshots.taken_ms,
    "node_created_watch_count": lambda it: watchers_told(it, EventType.CREATED),
    "node_deleted_watch_count": lambda it: watchers_told(it, EventType.DELETED),
    "node_changed_watch_count": lambda it: watchers_told(it, EventType.DATA_CHANGED),
    "node_children_watch_count": lambda it: watchers_told(it, EventType.CHILDREN_CHANGED),
    "readlatency": lambda it: it.tally.reads(),
    "updatelatency": lambda it: it.tally.writes(),
}
