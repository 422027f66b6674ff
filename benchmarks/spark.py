"""`format("odradek")` beside Spark's own connector: one session, one broker, the same topics.

Rounds alternate between the two and medians count. The connector is tuned: larger fetches and
polls, and above all a short wait at the end of a log, where its default stalls; when it writes it
gets batches as large as ours, and some milliseconds to fill them. CPU is that of the driver, its
JVM and all Python workers, those that came and went too. The jars come from Maven.

    python -m benchmarks.spark [--apache] [--rounds 5] [--only read,stream,floor,write,log,cold]

Run it alone on the machine.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from benchmarks.spark_bare import BareSource, ConstantSource
from benchmarks.spark_costs import Cost, Meter
from benchmarks.spark_topics import KIBIBYTE, fill
from odradek.spark.python import prepare_python
from tests.interop.apache_kafka import ApacheBroker, apache_broker
from tests.interop.maven import class_path
from tests.kafka.client.brokers import topics_of
from tests.kafka.client.topics import Topics
from tests.kafka.server.running import RunningBroker, running_broker
from tests.zookeeper.server.running import running_server

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CONNECTOR_POM = "spark-pom.xml"
GROUPS = ("read", "stream", "floor", "write", "log", "cold")
READ_TUNED = {
    "kafka.max.partition.fetch.bytes": str(4 << 20),
    "kafka.max.poll.records": "50000",
    "kafka.fetch.max.wait.ms": "10",
}
WRITE_TUNED = {"kafka.batch.size": str(1 << 19), "kafka.linger.ms": "5"}
FLOOR_BATCHES, FLOOR_WARM, FLOOR_ROWS = 40, 5, 400
PARTITIONS = 4
WARM_TURNS = 12  # For so long a JVM goes on to compile what the first case needs.
SESSION = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "3g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.streaming.numRecentProgressUpdates": "1000",
    "spark.log.level": "ERROR",
}
Work = Callable[[], object]


@dataclass
class Bench:
    """What all cases share."""

    spark: SparkSession
    meter: Meter
    broker: RunningBroker | ApacheBroker
    topics: Topics
    given: argparse.Namespace
    filled: dict[tuple[int, str], str] = field(default_factory=dict)

    def topic(self, value_bytes: int, codec: str = "none") -> str:
        """A topic of such records, filled when it is first asked for."""
        key = value_bytes, codec
        if key not in self.filled:
            name = self.topics.create(PARTITIONS, f"b{value_bytes}-{codec}")
            rows = self.rows(value_bytes)
            fill(self.broker.address, name, PARTITIONS, rows, value_bytes, codec, self.given)
            self.filled[key] = name
        return self.filled[key]

    def rows(self, value_bytes: int) -> int:
        return int(self.given.rows if value_bytes < KIBIBYTE else self.given.rows // 2)

    def options(self, kind: str, topic: str) -> dict[str, str]:
        tuned = READ_TUNED if kind == "kafka" else {}
        here = {"kafka.bootstrap.servers": self.broker.address, "subscribe": topic}
        return {**here, "startingOffsets": "earliest", **tuned}

    def table(self, kind: str, topic: str) -> DataFrame:
        return self.spark.read.format(kind).options(**self.options(kind, topic)).load()

    def rounds(self, *works: Work) -> list[Cost]:
        """The median cost of each, done in turns, after some that do not count: a JVM warms up."""
        costs: list[list[Cost]] = [[] for _ in works]
        for turn in range(-WARM_TURNS, self.given.rounds):
            order = range(len(works)) if turn % 2 else reversed(range(len(works)))
            for number in order:
                cost = self.meter.measure(works[number])
                if turn >= 0:
                    costs[number].append(cost)
        return [Cost(median(c.wall for c in each), median(c.cpu for c in each)) for each in costs]


def tell(what: str, theirs: float, ours: float, goal: float, unit: str = "s") -> None:
    """One line: both, how many times less ours is, and the goal."""
    ratio = theirs / ours
    verdict = "reached" if ratio >= goal else "NOT reached"
    print(
        f"{what:<58} theirs {theirs:8.3f} {unit}   ours {ours:8.3f} {unit}   {ratio:5.2f}x"
        f"   (goal {goal:g}x: {verdict})",
        flush=True,
    )


def to_noop(table: DataFrame) -> None:
    table.write.format("noop").mode("overwrite").save()


def read(bench: Bench) -> None:
    for value_bytes, wall_goal, cpu_goal in ((100, 2.0, 1.5), (KIBIBYTE, 1.3, 1.0)):
        for codec in ("none", "lz4"):
            topic = bench.topic(value_bytes, codec)
            theirs, ours = bench.rounds(
                lambda topic=topic: to_noop(bench.table("kafka", topic)),  # type: ignore[misc]
                lambda topic=topic: to_noop(bench.table("odradek", topic)),  # type: ignore[misc]
            )
            what = f"read {bench.rows(value_bytes):,} x {value_bytes} B {codec}"
            tell(f"{what}, wall", theirs.wall, ours.wall, wall_goal)
            tell(f"{what}, CPU", theirs.cpu, ours.cpu, cpu_goal)


@contextmanager
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="bench-spark-"))
    try:
        yield path
    finally:
        shutil.rmtree(path)


def run_stream(bench: Bench, kind: str, topic: str, sink: str, **more: str) -> list[Any]:
    """Read what is there as a stream; what Spark tells of its micro-batches."""
    with folder() as directory:
        options = {**bench.options(kind, topic), **more} if topic else more
        stream = bench.spark.readStream.format(kind).options(**options).load()
        query = (
            stream.writeStream.format(sink)
            .option("path", str(directory / "out"))
            .option("checkpointLocation", str(directory / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        return list(query.recentProgress)


def stream(bench: Bench) -> None:
    topic = bench.topic(100)
    for sink, goal in (("noop", 1.2), ("parquet", 1.1)):
        theirs, ours = bench.rounds(
            lambda sink=sink: run_stream(bench, "kafka", topic, sink),  # type: ignore[misc]
            lambda sink=sink: run_stream(bench, "odradek", topic, sink),  # type: ignore[misc]
        )
        what = f"AvailableNow {bench.rows(100):,} x 100 B to {sink}"
        tell(f"{what}, wall", theirs.wall, ours.wall, goal)
        tell(f"{what}, CPU", theirs.cpu, ours.cpu, goal)


def floor(bench: Bench) -> None:
    """Small micro-batches: what they cost, phase by phase, beside a source that does nothing."""
    bench.spark.dataSource.register(BareSource)
    topic = bench.topics.create(PARTITIONS, "floor")
    rows = FLOOR_BATCHES * FLOOR_ROWS
    fill(bench.broker.address, topic, PARTITIONS, rows, 100, "none", bench.given)
    limit = {"maxOffsetsPerTrigger": str(FLOOR_ROWS)}
    runs: dict[str, list[dict[str, int]]] = {"kafka": [], "odradek": [], "bare": []}
    for _ in range(bench.given.rounds):
        for kind, told in runs.items():
            if kind == "bare":
                more = {"batches": str(FLOOR_BATCHES), "partitions": str(PARTITIONS)}
                progress = run_stream(bench, kind, "", "noop", **more)
            else:
                progress = run_stream(bench, kind, topic, "noop", **limit)
            told += [one["durationMs"] for one in progress if one["batchId"] >= FLOOR_WARM]
    phases = list(runs["kafka"][0])
    for kind, told in runs.items():
        spent = {phase: median(one.get(phase, 0) for one in told) for phase in phases}
        print(f"micro-batch of {kind}: " + ", ".join(f"{p} {ms:g}" for p, ms in spent.items()))
    theirs, ours = (
        median(one["triggerExecution"] for one in runs[kind]) for kind in ("kafka", "odradek")
    )
    tell("micro-batch floor", theirs, ours, 1 / 1.3, "ms")


def write(bench: Bench) -> None:
    topic, rows = bench.topics.create(PARTITIONS, "out"), bench.rows(100)
    value = "cast(rpad(cast(id as string), 100, 'odradek') as binary) value"
    made = bench.spark.range(0, rows, 1, 2).selectExpr(
        "cast(cast(id as string) as binary) key", value
    )
    here = {"kafka.bootstrap.servers": bench.broker.address, "topic": topic}
    for codec in ("none", "lz4"):
        more = {**here, "kafka.compression.type": codec}

        def save(kind: str, options: dict[str, str]) -> None:
            made.write.format(kind).options(**options).mode("append").save()

        theirs, ours = bench.rounds(
            lambda more=more: save("kafka", {**more, **WRITE_TUNED}),  # type: ignore[misc]
            lambda more=more: save("odradek", more),  # type: ignore[misc]
        )
        tell(f"write {rows:,} x 100 B {codec}, wall", theirs.wall, ours.wall, 1.2)
        tell(f"write {rows:,} x 100 B {codec}, CPU", theirs.cpu, ours.cpu, 1.0)


def log(bench: Bench) -> None:
    """The files of the broker beside the broker itself: all columns of a topic, or an audit's.

    And beside a source that reads nothing, and gives Spark as many rows: none is quicker than that.
    """
    bench.spark.dataSource.register(ConstantSource)
    for value_bytes in (100, KIBIBYTE):
        topic = bench.topic(value_bytes)
        every = ",".join(bench.table("odradek", topic).columns)
        for name, columns in (("whole rows", every), ("offset, timestamp", "offset,timestamp")):
            broker = bench.spark.read.format("odradek").options(**bench.options("odradek", topic))
            read = broker.option("columns", columns).load
            source = bench.spark.read.format("odradek-log")
            files = source.options(topics=topic, columns=columns)
            constant = bench.spark.read.format("constant").options(columns=columns)
            constant = constant.options(partitions=PARTITIONS, valueBytes=value_bytes)
            nothing = constant.option("rows", bench.rows(value_bytes)).load
            through_it, beside_it, floor = bench.rounds(
                lambda read=read: to_noop(read()),  # type: ignore[misc]
                lambda files=files: to_noop(files.load(str(bench.broker.data))),  # type: ignore[misc]
                lambda nothing=nothing: to_noop(nothing()),  # type: ignore[misc]
            )
            what = f"odradek-log beside the broker, {value_bytes} B, {name}"
            tell(f"{what}, wall", through_it.wall, beside_it.wall, 2.0)
            tell("  with nothing read", through_it.wall, floor.wall, 2.0)
            tell(f"{what}, CPU", through_it.cpu, beside_it.cpu, 1.0)


def cold(bench: Bench) -> None:
    """A first query in a new process: what ours adds to what Spark needs for any such source."""
    from benchmarks.spark_cold import first_query

    topic = bench.topics.create(PARTITIONS, "cold")
    fill(bench.broker.address, topic, PARTITIONS, 4_000, 100, "none", bench.given)
    found: dict[str, list[tuple[float, float]]] = {"kafka": [], "bare": [], "odradek": []}
    for _ in range(bench.given.rounds):
        for kind, told in found.items():
            told.append(first_query(kind, bench.broker.address, topic, connector_jars()))
    start = median(one[0] for told in found.values() for one in told)
    query = {kind: median(one[1] for one in told) for kind, told in found.items()}
    print(f"Spark's own start {start:.2f} s; first query: ", end="")
    print(", ".join(f"{kind} {seconds:.2f} s" for kind, seconds in query.items()))
    added = max(query["odradek"] - query["bare"], 0.001)
    tell("what we add to a first query, of Spark's start", start, added, 10)


def connector_jars() -> str:
    return class_path(CONNECTOR_POM).replace(os.pathsep, ",")


def session(directory: Path) -> SparkSession:
    from pyspark.sql import SparkSession

    prepare_python()
    builder = SparkSession.builder.master("local[2]").config("spark.jars", connector_jars())
    builder = builder.config("spark.sql.warehouse.dir", str(directory / "warehouse"))
    for key, value in SESSION.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def run(groups: Sequence[str], given: argparse.Namespace) -> None:
    cases: dict[str, Callable[[Bench], None]] = {
        "read": read,
        "stream": stream,
        "floor": floor,
        "write": write,
        "log": log,
        "cold": cold,
    }
    with ExitStack() as stack:
        directory = stack.enter_context(folder())
        settings: dict[str, object] = {"log.retention.ms": -1}
        if given.apache:
            zookeeper = stack.enter_context(running_server(directory / "zookeeper"))
            settings["zookeeper.connect"] = zookeeper.connect_string
        broker: RunningBroker | ApacheBroker
        if given.apache:
            broker = stack.enter_context(apache_broker(directory / "broker", **settings))
        else:
            broker = stack.enter_context(running_broker(directory / "broker", **settings))
        topics = stack.enter_context(topics_of(broker.address))
        spark = session(directory)
        stack.callback(spark.stop)
        meter = stack.enter_context(Meter.of(spark))
        bench = Bench(spark, meter, broker, topics, given)
        began = perf_counter()
        for group in groups:
            cases[group](bench)
        print(f"took {perf_counter() - began:.0f} s")


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--apache", action="store_true", help="on Apache's broker, not on ours")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--rows", type=int, default=2_000_000, help="of 100 B; half of 1 KiB")
    options.add_argument("--batch-bytes", type=int, default=64 * KIBIBYTE, help="in the topics")
    options.add_argument("--only", default=",".join(GROUPS))
    given = options.parse_args()
    wanted = given.only.split(",")
    if unknown := set(wanted) - set(GROUPS):
        sys.exit(f"{', '.join(sorted(unknown))}: no such group; there are {', '.join(GROUPS)}")
    run(wanted, given)


if __name__ == "__main__":
    main()
