"""`odradek bench`: how fast a cluster takes and gives records, from here."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from odradek.cli.endpoints import bootstrap_of, open_cluster
from odradek.cli.options import Bootstrap, Json
from odradek.cli.output import say_json, table
from odradek.cli.progress import Meter
from odradek.cli.typed import run_app, single_app
from odradek.kafka.client.fetcher import Fetcher, OffsetRange
from odradek.kafka.client.offsets import EARLIEST, LATEST, list_offsets
from odradek.kafka.client.recording import Recorder
from odradek.kafka.client.topic_admin import create_topic, delete_topics
from odradek.runtime.clock import wall_clock_ms

if TYPE_CHECKING:
    from odradek.kafka.client.cluster import Cluster

app = single_app()
MEBIBYTE = 1024 * 1024
Row = dict[str, Any]


def run(arguments: list[str]) -> int:
    return run_app(app, "bench", arguments)


@app.command()
def bench(
    records: Annotated[int, typer.Option("--records", "-n", min=1)] = 100_000,
    size: Annotated[int, typer.Option("--size", min=1, metavar="BYTES")] = 100,
    partitions: Annotated[int, typer.Option("--partitions", "-p", min=1)] = 1,
    replicas: Annotated[int | None, typer.Option("--replicas", "-r", min=1)] = None,
    acks: Annotated[str, typer.Option(metavar="all|1|0")] = "all",
    round_trips: Annotated[int, typer.Option(min=1, help="Single records, one by one.")] = 200,
    progress: Annotated[bool | None, typer.Option(help="A bar, on stderr.")] = None,
    bootstrap: Bootstrap = None,
    json: Json = False,
) -> None:
    """Write, read and ask one by one, on a topic of its own that is taken away after."""
    cluster = open_cluster(bootstrap)
    topic = f"odradek-bench-{wall_clock_ms()}"
    create_topic(cluster, topic, partitions=partitions, replicas=replicas or -1)
    properties = {"bootstrap.servers": bootstrap_of(bootstrap), "acks": acks}
    try:
        rows = [
            write(topic, properties, records, size, progress),
            read(cluster, topic, records, size),
            ask(topic, properties, size, round_trips),
        ]
    finally:
        delete_topics(cluster, [topic])
    if json:
        say_json(rows)
        return
    keys = "what", "records", "seconds", "records_per_s", "mib_per_s", "p50_ms", "p99_ms"
    table([[it[key] for key in keys] for it in rows], *keys)


def write(
    topic: str, properties: dict[str, str], records: int, size: int, progress: bool | None
) -> Row:
    value, began = bytes(size), perf_counter()
    with (
        Recorder(topic, properties) as recorder,
        Meter("wrote", total=records, is_wanted=progress) as meter,
    ):
        for _ in range(records):
            recorder.send(None, value)
            meter.add(1, size)
    return row("write", records, size, perf_counter() - began)


def read(cluster: Cluster, topic: str, records: int, size: int) -> Row:
    """Batches are fetched whole and not opened: it is the cluster that is measured."""
    partitions = cluster.partitions_of([topic])
    first = list_offsets(cluster, dict.fromkeys(partitions, EARLIEST))
    last = list_offsets(cluster, dict.fromkeys(partitions, LATEST))
    ranges = [OffsetRange(it, first[it] or 0, last[it] or 0) for it in partitions]
    began = perf_counter()
    for _ in Fetcher(cluster, [it for it in ranges if it.start < it.end]):
        pass
    return row("read", records, size, perf_counter() - began)


def ask(topic: str, properties: dict[str, str], size: int, count: int) -> Row:
    """One record in flight at a time: how long until it is acknowledged."""
    value, times = bytes(size), []
    with Recorder(topic, properties) as recorder:
        for _ in range(count):
            began = perf_counter()
            recorder.send(None, value, partition=0)
            recorder.flush()
            times.append(perf_counter() - began)
    times.sort()
    found = row("one by one", count, size, sum(times))
    found["p50_ms"] = round(times[count // 2] * 1000, 3)
    found["p99_ms"] = round(times[min(count - 1, count * 99 // 100)] * 1000, 3)
    return found


def row(what: str, records: int, size: int, seconds: float) -> Row:
    return {
        "what": what,
        "records": records,
        "bytes": records * size,
        "seconds": round(seconds, 4),
        "records_per_s": round(records / seconds),
        "mib_per_s": round(records * size / MEBIBYTE / seconds, 2),
        "p50_ms": None,
        "p99_ms": None,
    }
