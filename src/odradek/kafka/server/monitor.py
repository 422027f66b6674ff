"""What operators may know of a broker, under the names that Kafka's exporters have made usual.

Everything is worked out from the broker itself when somebody asks. The sum over all topics stands
beside them with an empty name, as those who draw dashboards expect it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from operator import attrgetter

from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.meters import ApiMeter
from odradek.kafka.broker.replication_quotas import ReplicationQuotas
from odradek.kafka.broker.throttling import Throttling
from odradek.kafka.quotas.replication import ReplicationQuota
from odradek.kafka.quotas.shares import RateQuota
from odradek.kafka.server.monitor_coordinators import declare_coordinators
from odradek.kafka.storage.log import Log
from odradek.kafka.wire.apis import APIS
from odradek.kafka.wire.errors import ErrorCode
from odradek.runtime.metrics import Labels, Metrics
from odradek.runtime.stalls import Stalls

TOPIC_FIGURES = {
    "bytesin": ("bytes_in", "Bytes of records that producers sent"),
    "bytesout": ("bytes_out", "Bytes of records that consumers got"),
    "bytesrejected": ("bytes_rejected", "Bytes of records that were refused"),
    "messagesin": ("messages_in", "Records that producers sent"),
    "replicationbytesin": ("replication_bytes_in", "Bytes of records that leaders sent"),
    "replicationbytesout": ("replication_bytes_out", "Bytes of records that followers got"),
    "totalproducerequests": ("produce_requests", "Produce requests"),
    "totalfetchrequests": ("fetch_requests", "Fetch requests"),
    "failedproducerequests": ("failed_produce_requests", "Produce requests that were refused"),
    "failedfetchrequests": ("failed_fetch_requests", "Fetch requests that were refused"),
    "producemessageconversions": ("produce_conversions", "Records converted on their way in"),
    "fetchmessageconversions": ("fetch_conversions", "Records converted on their way out"),
}
LOG_FIGURES: list[tuple[str, str, Callable[[Log], float]]] = [
    ("size", "Bytes of a log", lambda log: log.size()),
    ("numlogsegments", "Segments of a log", lambda log: len(log.segments)),
    ("logstartoffset", "Where a log starts", lambda log: log.start_offset),
    ("logendoffset", "Where a log ends", lambda log: log.end_offset),
]
CLEANER_FIGURES = {
    "logcleaner_cleaner_recopy_percent": ("last_recopy_percent", "What the last cleaning kept"),
    "logcleaner_max_buffer_utilization_percent": ("last_buffer_percent", "Of its map of keys"),
    "logcleaner_max_clean_time_secs": ("last_s", "How long the last cleaning took"),
    "logcleaner_max_compaction_delay_secs": ("max_delay_s", "How late the latest log is"),
    "logcleanermanager_max_dirty_percent": ("max_dirty_percent", "Of the dirtiest log"),
}
CLEANER_COUNTS = {
    "cleanings": ("cleanings", "Cleanings that came to their end"),
    "readbytes": ("bytes_read", "Bytes that were read to be cleaned"),
    "writtenbytes": ("bytes_written", "Bytes that were kept"),
}
RUNNING = 3  # Kafka's number for a broker that serves.


class BrokerMetrics:
    """The metrics of one broker."""

    def __init__(self, broker: Broker, stalls: Stalls) -> None:
        self._broker = broker
        self._metrics = metrics = Metrics()
        for name, (figure, about) in TOPIC_FIGURES.items():
            metrics.computed_counters(
                f"kafka_server_brokertopicmetrics_{name}_total",
                about,
                "topic",
                compute=self._by_topic(attrgetter(figure)),
            )
        self._declare_requests()
        self._declare_replicas()
        self._declare_logs()
        self._declare_cleaner()
        self._declare_quotas()
        declare_coordinators(metrics, broker)
        metrics.computed_gauge(
            "odradek_loop_stall_seconds_max",
            "The longest time for which the loop heard nobody",
            lambda: stalls.longest_s,
        )

    def text(self) -> bytes:
        return self._metrics.text()

    def _by_topic(self, figure: Callable[[object], float]) -> Callable[[], dict[Labels, float]]:
        meters = self._broker.meters

        def compute() -> dict[Labels, float]:
            values: dict[Labels, float] = {("",): figure(meters.total())}
            return values | {(name,): figure(it) for name, it in meters.topics.items()}

        return compute

    def _by_api(self, figure: Callable[[ApiMeter], float]) -> Callable[[], Mapping[Labels, float]]:
        meters = self._broker.meters
        return lambda: {(APIS[key].name,): figure(it) for key, it in meters.apis.items()}

    def _declare_requests(self) -> None:
        prefix, declare = "kafka_network_requestmetrics", self._metrics.computed_counters
        for name, about, figure in (
            ("requests", "Requests", attrgetter("count")),
            ("requestbytes", "Bytes of requests", attrgetter("request_bytes")),
            ("totaltimeseconds", "Time from request to answer", attrgetter("total_s")),
            ("delayed", "Requests that had to wait", attrgetter("waited")),
        ):
            declare(f"{prefix}_{name}_total", about, "request", compute=self._by_api(figure))
        declare(
            f"{prefix}_errors_total", "Answers by their error", "request", "error",
            compute=self._errors,
        )  # fmt: skip
        pauses = self._broker.throttling.pauses
        declare(
            f"{prefix}_throttled_total", "Answers that held a client back", "request",
            compute=lambda: {(name,): count for name, count in pauses.items()},
        )  # fmt: skip
        meters = self._broker.meters
        for name in ("made", "refused", "dropped", "expired"):
            count = attrgetter(f"connections_{name}")
            declare(
                f"kafka_server_socketservermetrics_connections_{name}_total",
                f"Connections {name}",
                compute=partial(alone, count, meters),
            )

    def _errors(self) -> Mapping[Labels, float]:
        return {
            (APIS[key].name, ErrorCode(code).name): count
            for (key, code), count in self._broker.meters.errors.items()
        }

    def _declare_replicas(self) -> None:
        broker, gauge = self._broker, self._metrics.computed_gauge
        partitions = broker.partitions
        manager = "kafka_server_replicamanager"
        gauge(f"{manager}_partitioncount", "Replicas here", lambda: len(partitions))
        gauge(
            f"{manager}_leadercount",
            "Replicas that lead",
            lambda: sum(it.is_leader for it in partitions.all()),
        )
        gauge(
            f"{manager}_underreplicatedpartitions",
            "Led partitions with replicas out of sync",
            lambda: sum(it.is_under_replicated for it in partitions.all()),
        )
        gauge(
            f"{manager}_underminisrpartitioncount",
            "Led partitions with fewer in sync than acks=all needs",
            lambda: sum(it.is_under_min_isr for it in partitions.all()),
        )
        gauge(
            f"{manager}_atminisrpartitioncount",
            "Led partitions with just as many in sync as acks=all needs",
            lambda: sum(it.is_leader and len(it.isr) == it.min_isr for it in partitions.all()),
        )
        for name, figure, about in (
            ("isrshrinks", "isr_shrinks", "Replicas fell out of sync"),
            ("isrexpands", "isr_expands", "Replicas came back in sync"),
            ("failedisrupdates", "failed_isr_updates", "The controller kept an ISR as it was"),
            ("recordslost", "records_lost", "Committed records that followers had to drop"),
        ):
            count = partial(alone, attrgetter(figure), broker.meters)
            self._metrics.computed_counters(f"{manager}_{name}_total", about, compute=count)
        self._metrics.computed_counters(
            "kafka_controller_controllerstats_uncleanleaderelections_total",
            "Leaders that were elected though they were not in sync",
            compute=partial(alone, attrgetter("unclean_count"), broker.controller),
        )
        gauge(f"{manager}_offlinereplicacount", "Offline", lambda: len(partitions.offline))
        controller = "kafka_controller_kafkacontroller_activecontrollercount"
        gauge(controller, "1 if this broker controls", lambda: int(broker.controller.is_active))
        gauge("kafka_server_kafkaserver_brokerstate", "3: it serves", lambda: RUNNING)
        purgatory = "kafka_server_delayedoperationpurgatory_purgatorysize"
        self._metrics.computed_gauges(
            purgatory,
            "Requests that wait",
            "delayedoperation",
            compute=lambda: {
                ("Fetch",): broker.parked.fetches,
                ("Produce",): broker.parked.others,
            },
        )

    def _declare_logs(self) -> None:
        directories = self._broker.directories
        self._metrics.computed_gauge(
            "kafka_log_logmanager_offlinelogdirectorycount",
            "Log directories that failed",
            lambda: len(directories.offline),
        )
        for name, about, figure in LOG_FIGURES:
            self._metrics.computed_gauges(
                f"kafka_log_log_{name}",
                about,
                "topic",
                "partition",
                compute=partial(self._by_partition, figure),
            )

    def _declare_quotas(self) -> None:
        """What is used by those who have quotas; who shares one is told together."""
        throttling = self._broker.throttling
        for name, about, quota in (
            ("produce_byte_rate", "Bytes a second that are sent", attrgetter("produced")),
            ("fetch_byte_rate", "Bytes a second that are fetched", attrgetter("fetched")),
            ("request_request_time", "Percent of the loop's time", attrgetter("spent")),
        ):
            self._metrics.computed_gauges(
                f"kafka_server_{name}",
                about,
                "user",
                "client_id",
                compute=partial(rates, throttling, quota),
            )
        quotas = self._broker.replication_quotas
        for name, about, kind in (
            ("leader", "Bytes a second that followers get", attrgetter("leader")),
            ("follower", "Bytes a second that are fetched from leaders", attrgetter("follower")),
            ("alterlogdirs", "Bytes a second that move", attrgetter("log_dirs")),
        ):
            self._metrics.computed_gauge(
                f"kafka_server_{name}replication_byte_rate",
                f"{about}, where replication is limited",
                partial(byte_rate, quotas, kind),
            )

    def _declare_cleaner(self) -> None:
        broker, figures, metrics = self._broker, self._broker.cleaner.figures, self._metrics
        for name, (figure, about) in CLEANER_FIGURES.items():
            metrics.computed_gauge(f"kafka_log_{name}", about, partial(attrgetter(figure), figures))
        for name, (figure, about) in CLEANER_COUNTS.items():
            count = partial(alone, attrgetter(figure), figures)
            metrics.computed_counters(f"kafka_log_logcleaner_{name}_total", about, compute=count)
        metrics.computed_gauge(
            "kafka_log_logcleanermanager_time_since_last_run_ms",
            "Since logs were looked at",
            lambda: broker.clock() - figures.looked_at_ms if figures.looked_at_ms else 0,
        )
        metrics.computed_gauges(
            "kafka_log_logcleanermanager_uncleanable_partitions_count",
            "Logs that cannot be cleaned",
            "logdirectory",
            compute=lambda: {
                (path,): count
                for path, count in figures.uncleanable_by_directory(
                    [it.path for it in broker.directories.online]
                ).items()
            },
        )

    def _by_partition(self, figure: Callable[[Log], float]) -> Mapping[Labels, float]:
        return {
            (it.where.topic, str(it.where.partition)): figure(it.log)
            for it in self._broker.partitions.all()
        }


def alone(figure: Callable[[object], float], meters: object) -> Mapping[Labels, float]:
    """One value, without labels."""
    return {(): figure(meters)}


def rates(
    throttling: Throttling, quota: Callable[[Throttling], RateQuota]
) -> Mapping[Labels, float]:
    found = quota(throttling).rates(throttling.now_ms())
    return {(it.user, it.client_id): rate for it, rate in found.items()}


def byte_rate(
    quotas: ReplicationQuotas, quota: Callable[[ReplicationQuotas], ReplicationQuota]
) -> float:
    return quota(quotas).rate(quotas.now_ms())


def health(broker: Broker) -> tuple[bool, bytes]:
    """Whether the broker can serve, and what there is to say about that."""
    keeper, directories = broker.keeper, broker.directories
    is_connected = keeper.client.state.is_connected
    is_well = is_connected and broker.is_known and bool(directories.online)
    said = {
        "status": "ok" if is_well else "unwell",
        "broker_id": broker.id,
        "broker_epoch": keeper.epoch,
        "cluster_id": broker.cluster_id,
        "controller_id": broker.metadata.controller_id,
        "controller_epoch": broker.metadata.controller_epoch,
        "zookeeper": keeper.client.state.name,
        "partitions": len(broker.partitions),
        "offline_partitions": len(broker.partitions.offline),
        "offline_directories": sorted(directories.offline),
    }
    return is_well, json.dumps(said).encode() + b"\n"
