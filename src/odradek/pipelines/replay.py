"""`replay`: archived files into topics again, exactly once, each key in its old order.

What is replayed is told on the target, in the topic of syncs, as a mirror tells it: a replay that
was broken off goes on where it stood, and one that is through does nothing. Whoever wants all of it
once more gives it another name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from time import monotonic
from typing import TYPE_CHECKING

from odradek.kafka.client.cluster import Cluster, shared_cluster
from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.producer_settings import ProducerSettings, producer_settings
from odradek.pipelines.clusters import Servers, ensure_like, properties_of
from odradek.pipelines.files import PARQUET, read_files
from odradek.pipelines.lane_writer import LaneWriter
from odradek.pipelines.lanes import Lane
from odradek.pipelines.mirror import TRANSACTION_TIMEOUT_MS
from odradek.pipelines.mirror_task import Stretch
from odradek.pipelines.progress import Listener, Progress, nobody
from odradek.pipelines.replay_task import COLUMNS, RESULT, task
from odradek.pipelines.session import session
from odradek.pipelines.sync_log import SyncLog
from odradek.runtime.errors import OdradekError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NEEDED = ("key", "value", "topic", "partition", "offset")
TASKS_MAX = 64


class ReplayRefused(OdradekError):
    """Files that cannot be replayed, or not so."""


@dataclass(slots=True)
class Replayed:
    """What a replay has done."""

    name: str
    records: int = 0
    bytes: int = 0
    seconds: float = 0.0
    archived: int = 0  # How many rows there are in all.
    topics: dict[str, str] = field(default_factory=dict)  # From the archive's name to the new one.


@dataclass(frozen=True, slots=True)
class Extent:
    """What the archive has of one partition."""

    source: TopicPartition
    start: int
    end: int
    count: int


def replay(
    path: str,
    target: Servers,
    *,
    spark: SparkSession | None = None,
    master: str | None = None,
    file_format: str = PARQUET,
    topics: Sequence[str] = (),
    to: str | None = None,
    prefix: str = "",
    keep_partitions: bool = False,
    where: str | None = None,
    name: str | None = None,
    records_per_round: int = 1_000_000,
    records_per_transaction: int = 50_000,
    progress: Listener = nobody,
) -> Replayed:
    """Write the rows of an archive, or of any files with its columns, to topics.

    path             a folder that `archive` made, or a table of its format
    target           bootstrap servers, or properties of Kafka's producer
    topics           which of the archived topics; all if none is named
    to, prefix       the topic that all go to; or what is put before the archived names
    keep_partitions  to the partition numbers of the archive, and not where keys say
    where            a condition in SQL on the archive's columns
    name             who this replay is, by default made from the path, the topics and the condition
    """
    producer = producer_settings(
        {"transaction.timeout.ms": str(TRANSACTION_TIMEOUT_MS), **properties_of(target)}
    )
    called = name or default_name(path, topics, to or prefix, where)
    done, started = Replayed(called), monotonic()
    with session(spark, master) as here:
        rows = chosen_rows(read_files(here, path, file_format), topics, where)
        extents = extents_of(rows)
        done.archived = sum(extent.count for extent in extents)
        done.topics = {e.source.topic: to or prefix + e.source.topic for e in extents}
        cluster = shared_cluster(producer.client)
        prepare_topics(cluster, extents, done.topics, keep_partitions)
        log = SyncLog(producer.client)
        log.prepare()
        while stretches := plan(log, called, extents, done.topics, records_per_round):
            work = task(producer.for_task(), stretches, keep_partitions, records_per_transaction)
            for row in within(here, rows, stretches).mapInArrow(work, RESULT).collect():
                done.records += row.records
                done.bytes += row.bytes
            close_empty(producer, log, stretches)
            left = sum(e.end - stretches[e.source].end for e in extents if e.source in stretches)
            pace = done.records / max(0.001, monotonic() - started)
            progress(Progress("replay", done.records, left, pace))
    done.seconds = monotonic() - started
    return done


def default_name(path: str, topics: Sequence[str], to: str, where: str | None) -> str:
    """The same for the same question, so that it is not answered twice."""
    said = "\n".join((path.rstrip("/"), ",".join(sorted(topics)), to, where or ""))
    return f"replay-{sha256(said.encode()).hexdigest()[:12]}"


def chosen_rows(rows: DataFrame, topics: Sequence[str], where: str | None) -> DataFrame:
    missing = [name for name in NEEDED if name not in rows.columns]
    if missing:
        raise ReplayRefused(
            f"the files have no column {', '.join(missing)}: a replay keeps the order of partition"
            f" and offset, and needs {', '.join(NEEDED)}"
        )
    if topics:
        rows = rows.where(rows.topic.isin(*topics))
    return rows.where(where) if where else rows


def extents_of(rows: DataFrame) -> list[Extent]:
    """What there is of each partition."""
    from pyspark.sql.functions import expr

    found = rows.groupBy("topic", "partition").agg(
        expr("min(offset) as start"), expr("max(offset) + 1 as end"), expr("count(*) as rows")
    )
    return sorted(
        (
            Extent(TopicPartition(r.topic, r.partition), r.start, r.end, r.rows)
            for r in found.collect()
        ),
        key=lambda extent: extent.source,
    )


def prepare_topics(
    cluster: Cluster, extents: Sequence[Extent], names: dict[str, str], keeps_partitions: bool
) -> None:
    """Have all topics; new ones get as many partitions as were archived."""
    for target in dict.fromkeys(names.values()):
        archived = [e.source.partition for e in extents if names[e.source.topic] == target]
        count = max(archived) + 1
        ensure_like(cluster, target, count if keeps_partitions or is_new(cluster, target) else 1)


def is_new(cluster: Cluster, topic: str) -> bool:
    return topic not in cluster.topics()


def plan(
    log: SyncLog, name: str, extents: Sequence[Extent], names: dict[str, str], records_max: int
) -> dict[tuple[str, int], Stretch]:
    """What to replay next; nothing if all is there."""
    lanes = {e: Lane(name, e.source, names[e.source.topic]) for e in extents}
    _, places = log.read(lanes.values())
    stretches: dict[tuple[str, int], Stretch] = {}
    for extent, lane in lanes.items():
        first = max(extent.start, places[lane].position)
        if first < extent.end:
            end = min(extent.end, first + records_max)
            stretches[extent.source] = Stretch(lane, places[lane], first, end)
    return stretches


def within(
    spark: SparkSession, rows: DataFrame, stretches: dict[tuple[str, int], Stretch]
) -> DataFrame:
    """The rows of some stretches, those of a partition together and in order."""
    from pyspark.sql.functions import broadcast

    bounds = spark.createDataFrame(
        [(*source, one.first, one.end) for source, one in stretches.items()],
        "topic string, partition int, first bigint, end bigint",
    )
    if "headers" not in rows.columns:
        rows = rows.selectExpr("*", "cast(null as array<struct<key:string,value:binary>>) headers")
    if "timestamp" not in rows.columns:
        rows = rows.selectExpr("*", "cast(null as timestamp) as timestamp")
    least = min(one.first for one in stretches.values())
    most = max(one.end for one in stretches.values())
    chosen = rows.where(f"offset >= {least} and offset < {most}")  # Whole files are passed over.
    return (
        chosen.join(broadcast(bounds), ["topic", "partition"])
        .where("offset >= first and offset < end")
        .selectExpr(*COLUMNS[:-1], "unix_micros(timestamp) as time_us")
        .repartition(min(len(stretches), TASKS_MAX), "topic", "partition")
        .sortWithinPartitions("topic", "partition", "offset")
    )


def close_empty(
    producer: ProducerSettings, log: SyncLog, stretches: dict[tuple[str, int], Stretch]
) -> None:
    """Say of stretches without a row that they are done: no task has seen them."""
    _, places = log.read(one.lane for one in stretches.values())
    for one in stretches.values():
        if places[one.lane].position < one.end:
            LaneWriter(one.lane, producer, places[one.lane], first=one.first).commit(one.end)
