"""`odradek log`: what stands in the files of brokers and ZooKeepers, and whether it is sound."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from odradek.cli.endpoints import open_cluster
from odradek.cli.options import Bootstrap, Json
from odradek.cli.output import say, say_json, table, text_of
from odradek.cli.typed import new_app, run_app

app = new_app("A broker's files: dump, verify, dirs.")
UNSOUND = 1


def run(arguments: list[str]) -> int:
    return run_app(app, "log", arguments)


@app.command("dump")
def dump(
    path: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="Segments, indexes, snapshots …")
    ],
    records: Annotated[bool, typer.Option("--records", "-r", help="Records, too.")] = False,
    json: Json = False,
) -> None:
    """Show what files of a partition, or of a ZooKeeper, hold; of a directory, all its files."""
    from odradek.cli import log_files, zookeeper_files

    for file in [one for it in path for one in files_in(it)]:
        if not json:
            say(str(file))
        if zookeeper_files.is_zookeepers(file):
            rows = zookeeper_files.rows_of(file)
        else:
            rows = log_files.rows_of(file, with_records=records)
        for row in rows:
            if json:
                say_json({"file": str(file), **row})
            else:
                kind = row.pop("kind")
                shown = (f"{key}={text_of(value)}" for key, value in row.items())
                say(f"  {kind:10} " + " ".join(it for it in shown if not it.endswith("=-")))


def files_in(path: Path) -> list[Path]:
    from odradek.cli.zookeeper_files import is_zookeepers
    from odradek.kafka.storage.names import read_file_name

    if not path.is_dir():
        return [path]
    return sorted(
        it
        for it in path.iterdir()
        if read_file_name(it.name) is not None
        or it.name.endswith("checkpoint")
        or is_zookeepers(it)
    )


@app.command("verify")
def verify(
    path: Annotated[
        Path, typer.Argument(metavar="DIR", help="A log directory, or one partition's.")
    ],
    json: Json = False,
) -> None:
    """Look for damage: checksums, order, indexes, snapshots. Exit code 1 if there is any."""
    from odradek.cli.log_check import partition_directories, problems_in

    found = {it: list(problems_in(it)) for it in partition_directories(path)}
    problems = [
        {"partition": directory.name, "problem": problem}
        for directory, said in found.items()
        for problem in said
    ]
    if json:
        say_json({"partitions": len(found), "problems": problems})
    else:
        for it in problems:
            say(f"{it['partition']}: {it['problem']}")
        say(f"{len(found)} partitions, {len(problems)} problems")
    if problems:
        raise typer.Exit(UNSOUND)


@app.command("dirs")
def dirs(
    topic: Annotated[list[str] | None, typer.Option("--topic", "-t")] = None,
    bootstrap: Bootstrap = None,
    json: Json = False,
) -> None:
    """How large partitions are, and where, as running brokers say."""
    rows = [row for row in directory_rows(bootstrap) if not topic or row["topic"] in topic]
    if json:
        say_json(rows)
    else:
        table([list(it.values()) for it in rows], *(rows[0] if rows else ("broker", "directory")))


def directory_rows(bootstrap: str | None) -> list[dict[str, Any]]:
    from odradek.kafka.client.addresses import Address
    from odradek.kafka.client.topic_admin import describe
    from odradek.kafka.wire.messages.describe_log_dirs import (
        DescribeLogDirsRequest,
        DescribeLogDirsResponse,
    )

    cluster, rows = open_cluster(bootstrap), []
    for broker in sorted(describe(cluster, []).brokers, key=lambda it: it.node_id):
        with cluster.brokers.lend(Address(broker.host, broker.port)) as connection:
            request = DescribeLogDirsRequest(topics=None)
            answer = connection.request(request, DescribeLogDirsResponse)
        rows += [
            {
                "broker": broker.node_id,
                "directory": it.log_dir,
                "topic": one.name,
                "partition": part.partition_index,
                "bytes": part.partition_size,
                "lag": part.offset_lag,
            }
            for it in answer.results
            for one in sorted(it.topics, key=lambda one: one.name)
            for part in sorted(one.partitions, key=lambda part: part.partition_index)
        ]
    return rows
