"""`archive`: topics into files, exactly once, a folder for each topic and day.

Spark's own file sink writes them: its log lists a micro-batch's files once that is whole, and its
checkpoint says where to go on. Each micro-batch writes the whole list anew, which is short, because
small files are put together; so the list can be replaced at one stroke (`compaction`).
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from odradek.pipelines.clusters import OUR_OWN, Servers, spark_options
from odradek.pipelines.compaction import Compacted, compact
from odradek.pipelines.files import DELTA, ICEBERG, PARQUET, FormatRefused, check_format
from odradek.pipelines.progress import Listener, nobody
from odradek.pipelines.queries import Watched, watch
from odradek.pipelines.session import session
from odradek.pipelines.shipping import is_connect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

CHECKPOINT = "_checkpoint"
LOG_INTERVAL = "spark.sql.streaming.fileSink.log.compactInterval"
FOLDERS = ("topic", "date")
SPARK_WITH_STEPS = (4, 2)
COLUMNS = (
    "key",
    "value",
    "headers",
    "partition",
    "offset",
    "timestamp",
    "timestampType",
    "topic",
    # The day in UTC, wherever the session thinks it is.
    "date_from_unix_date(cast(floor(unix_seconds(timestamp) / 86400) as int)) as date",
)


@dataclass(slots=True)
class Archived:
    """What an archive has taken in."""

    rows: int = 0
    batches: int = 0
    seconds: float = 0.0
    compacted: Compacted | None = None


def archive(
    servers: Servers,
    topics: Sequence[str],
    path: str,
    *,
    spark: SparkSession | None = None,
    master: str | None = None,
    file_format: str = PARQUET,
    checkpoint: str | None = None,
    starting: str = "earliest",
    follow: bool = False,
    rows_per_batch: int = 2_000_000,
    trigger_s: float = 30,
    compacts: bool = True,
    compact_after_batches: int = 100,
    file_bytes: int = 128 * 1024 * 1024,
    grace_s: float = 600,
    progress: Listener = nobody,
    stop: threading.Event | None = None,
) -> Archived:
    """Write what is in `topics` now to files, or go on writing, until `stop`.

    servers      bootstrap servers, or properties of Kafka's consumer
    topics       names; one with * stands for all that match
    path         a folder; for Iceberg the name of a table
    checkpoint   where progress is kept, by default in the folder itself; a table of Iceberg is
                 none. With the same one a second run goes on where the first ended
    starting     where the first run begins: earliest, latest, or offsets in JSON
    trigger_s    with `follow`: how long rows are gathered for a file
    compacts     whether small files are put together at the end, and with `follow` after every
                 `compact_after_batches`; replaced files stay for `grace_s`
    """
    done, started, stop = Archived(), monotonic(), stop or threading.Event()
    with session(spark, master) as here:
        check_format(here, file_format)
        kept = checkpoint or default_checkpoint(path, file_format)
        rows_max = rows_per_batch if follow or reads_in_steps(here) else None
        rows = stream(here, servers, topics, starting, rows_max)
        while True:
            query = start(here, rows, path, file_format, kept, trigger_s if follow else None)
            limit = compact_after_batches if follow and compacts else None
            seen = watch(query, "archive", progress, stop, done.rows, limit)
            _add(done, seen)
            if compacts and done.batches:
                done.compacted = compacted(here, path, file_format, file_bytes, grace_s)
            if not follow or stop.is_set():
                break
    done.seconds = monotonic() - started
    return done


def default_checkpoint(path: str, file_format: str) -> str:
    """A place beside the files, where they have one."""
    if file_format == ICEBERG:
        raise FormatRefused(f"{path} is a table and no folder: say where its checkpoint is to be")
    return f"{path.rstrip('/')}/{CHECKPOINT}"


def reads_in_steps(spark: SparkSession) -> bool:
    """Whether a query over what is there now goes on after as many rows as it may read at once.

    Before 4.2 it ends there, so it has to read all of them at once.
    """
    major, minor = spark.version.split(".")[:2]
    return (int(major), int(minor)) >= SPARK_WITH_STEPS


def stream(
    spark: SparkSession,
    servers: Servers,
    topics: Sequence[str],
    starting: str,
    rows_max: int | None,
) -> DataFrame:
    """The rows of the topics, with the day of each."""
    limit = {} if rows_max is None else {"maxOffsetsPerTrigger": str(rows_max)}
    options = {
        "kafka.isolation.level": "read_committed",
        **spark_options(servers),
        **subscription(topics),
        "startingOffsets": starting,
        "includeHeaders": "true",
        **limit,
    }
    return spark.readStream.format("odradek").options(**options).load().selectExpr(*COLUMNS)


def subscription(topics: Sequence[str]) -> dict[str, str]:
    """The option of the source for names, some of them with stars."""
    if not any("*" in name for name in topics):
        return {"subscribe": ",".join(topics)}
    names = ("[^/]*".join(map(re.escape, name.split("*"))) for name in topics)
    ours = "|".join(map(re.escape, OUR_OWN))
    return {"subscribePattern": f"(?!__|(?:{ours})$)(?:{'|'.join(names)})"}


def start(
    spark: SparkSession,
    rows: DataFrame,
    path: str,
    file_format: str,
    checkpoint: str,
    trigger_s: float | None,
) -> StreamingQuery:
    """Start the query; the setting for the list is the query's own, and not the session's."""
    writer = rows.writeStream.option("checkpointLocation", checkpoint)
    if trigger_s is None:
        writer = writer.trigger(availableNow=True)
    else:
        writer = writer.trigger(processingTime=f"{trigger_s} seconds")
    if file_format == ICEBERG:
        return _start_iceberg(spark, rows, writer, path)
    before = spark.conf.get(LOG_INTERVAL, "10")
    spark.conf.set(LOG_INTERVAL, "1")
    try:
        return writer.partitionBy(*FOLDERS).format(file_format).option("path", path).start()
    finally:
        spark.conf.set(LOG_INTERVAL, before or "10")


def _start_iceberg(
    spark: SparkSession, rows: DataFrame, writer: DataStreamWriter, table: str
) -> StreamingQuery:
    if not spark.catalog.tableExists(table):
        spark.createDataFrame([], rows.schema).writeTo(table).using(ICEBERG).partitionedBy(
            *(rows[name] for name in FOLDERS)
        ).create()
    return writer.format(ICEBERG).option("fanout-enabled", "true").toTable(table)


def compacted(
    spark: SparkSession, path: str, file_format: str, file_bytes: int, grace_s: float
) -> Compacted | None:
    """Put small files together, by the format's own means where it has them."""
    if file_format == DELTA:
        spark.sql(f"OPTIMIZE delta.`{path}`")
    elif file_format == ICEBERG:
        catalog = path.partition(".")[0]
        spark.sql(f"CALL {catalog}.system.rewrite_data_files(table => '{path}')")
    elif not is_connect(spark):  # From afar there are no files to be put in place.
        return compact(spark, path, bytes_wanted=file_bytes, grace_s=grace_s)
    return None


def _add(done: Archived, seen: Watched) -> None:
    done.rows += seen.rows
    done.batches += seen.batches
