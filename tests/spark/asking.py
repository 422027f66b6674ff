"""The source as Spark uses it, without Spark: readers made from options, and their rows."""

from __future__ import annotations

import pickle
from typing import Any

from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from odradek.kafka.wire.batch_writer import PLAIN, Envelope, write_batch
from odradek.kafka.wire.records import Record
from odradek.spark.source import OdradekSource
from tests.kafka.client.scripted import ScriptedCluster

Row = dict[str, Any]
QUICK = {
    "kafka.retry.backoff.ms": "5",
    "kafka.retry.backoff.max.ms": "20",
    "kafka.fetch.max.wait.ms": "5",
    "kafka.max.partition.fetch.bytes": "500",
}


def source(cluster: ScriptedCluster, **given: str) -> OdradekSource:
    """The source with these options (an underscore stands for a dot), on topic t by default."""
    options = {key.replace("_", "."): value for key, value in given.items()}
    if not {"subscribe", "assign", "subscribePattern"} & set(options):
        options["subscribe"] = "t"
    servers = {"kafka.bootstrap.servers": str(cluster.address())}
    return OdradekSource({**QUICK, **servers, **options})


HEADER = StructType([StructField("key", StringType()), StructField("value", BinaryType())])
TYPES: dict[str, DataType] = {
    "key": BinaryType(),
    "value": BinaryType(),
    "topic": StringType(),
    "partition": IntegerType(),
    "offset": LongType(),
    "timestamp": TimestampType(),
    "timestampType": IntegerType(),
    "headers": ArrayType(HEADER),
}


def schema_of(made: OdradekSource) -> StructType:
    """What Spark makes of the source's schema; it takes a JVM to read one."""
    names = [column.split()[0] for column in made.schema().replace("<", " ").split(", ")]
    return StructType([StructField(name, TYPES[name]) for name in names])


def reader(cluster: ScriptedCluster, **given: str) -> DataSourceReader:
    made = source(cluster, **given)
    return made.reader(schema_of(made))


def stream(cluster: ScriptedCluster, **given: str) -> Any:
    made = source(cluster, **given)
    return made.streamReader(schema_of(made))


def rows_of(made: DataSourceReader | DataSourceStreamReader, partitions: Any) -> list[Row]:
    """The rows of all tasks, read as an executor reads them: by what was sent to it."""
    sent = pickle.loads(pickle.dumps(made))
    tasks = pickle.loads(pickle.dumps(list(partitions)))
    return [row for task in tasks for batch in sent.read(task) for row in batch.to_pylist()]


def read(cluster: ScriptedCluster, **given: str) -> list[Row]:
    made = reader(cluster, **given)
    return rows_of(made, made.partitions())


def offsets(rows: list[Row]) -> dict[str, list[int]]:
    """The offsets that were read, by partition."""
    found: dict[str, list[int]] = {}
    for row in rows:
        found.setdefault(f"{row['topic']}-{row['partition']}", []).append(row["offset"])
    return found


def fill(
    cluster: ScriptedCluster,
    partition: int,
    first: int,
    end: int,
    topic: str = "t",
    envelope: Envelope = PLAIN,
) -> None:
    """Append records [first, end), five to a batch; the time of each is a second after the last."""
    for start in range(first, end, 5):
        numbers = range(start, min(start + 5, end))
        records = [Record(n, 1000 * n, b"k%d" % n, b"v%d" % n) for n in numbers]
        cluster.append(topic, partition, write_batch(records, envelope))
