"""`odradek group reset`: let a group go on from elsewhere, partition by partition if need be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from odradek.cli.endpoints import open_cluster
from odradek.cli.group import Name, app, existing
from odradek.cli.options import Bootstrap, Json
from odradek.cli.output import say, say_json, table
from odradek.cli.reading import read_time_ms
from odradek.kafka.client import group_admin
from odradek.runtime.clock import wall_clock_ms

if TYPE_CHECKING:
    from odradek.kafka.client.cluster import Cluster
    from odradek.kafka.client.errors import TopicPartition

Places = Annotated[
    list[str] | None,
    typer.Option("--topic", "-t", metavar="TOPIC[:P]", help="Only these; may be given again."),
]
TO = "earliest, latest, current, an offset, +N or -N from where it is, or a time with time:…"


@app.command("reset")
def reset(
    name: Name,
    to: Annotated[str, typer.Option("--to", metavar="WHERE", help=TO)],
    topic: Places = None,
    execute: Annotated[
        bool, typer.Option("--execute", help="Do it; without, it is only shown.")
    ] = False,
    bootstrap: Bootstrap = None,
    json: Json = False,
) -> None:
    """Show where a group would go on from, and with --execute let it; it must have no members."""
    from odradek.kafka.client.group_offsets import commit_offsets

    cluster = open_cluster(bootstrap)
    before = group_admin.all_committed(cluster, name)
    partitions = chosen(cluster, before, topic)
    after = targets(cluster, partitions, before, to)
    if execute:
        commit_offsets(cluster, name, after)
    rows = [
        {"topic": it.topic, "partition": it.partition, "from": before.get(it), "to": after[it]}
        for it in partitions
    ]
    report(name, rows, is_done=execute, as_json=json)


def chosen(
    cluster: Cluster, before: dict[TopicPartition, int], places: list[str] | None
) -> list[TopicPartition]:
    """The partitions that are meant: named ones, or all that the group has committed for."""

    if not places:
        found = existing(cluster, sorted(before))
        if not found:
            raise typer.BadParameter("the group has committed nothing: name a --topic")
        return found
    wanted: list[TopicPartition] = []
    for place in places:
        name, _, number = place.partition(":")
        of_topic = cluster.partitions_of([name])
        picked = [it for it in of_topic if not number or str(it.partition) == number]
        if not picked:
            raise typer.BadParameter(f"{name} has no partition {number}")
        wanted += picked
    return sorted(set(wanted))


def targets(
    cluster: Cluster, partitions: list[TopicPartition], before: dict[TopicPartition, int], to: str
) -> dict[TopicPartition, int]:
    """The new offset of each, kept within what the log holds."""
    from odradek.kafka.client.offsets import EARLIEST, LATEST, list_offsets

    first = list_offsets(cluster, dict.fromkeys(partitions, EARLIEST))
    last = list_offsets(cluster, dict.fromkeys(partitions, LATEST))
    by_time: dict[Any, int | None] = {}
    if to.startswith("time:"):
        time_ms = read_time_ms(to.removeprefix("time:"), wall_clock_ms())
        by_time = list_offsets(cluster, dict.fromkeys(partitions, time_ms))
    found = {}
    for it in partitions:
        low, high = first[it] or 0, last[it] or 0
        wanted = by_time.get(it, high) if by_time else offset_of(to, before.get(it), low, high)
        found[it] = min(max(high if wanted is None else wanted, low), high)
    return found


def offset_of(to: str, current: int | None, low: int, high: int) -> int:
    """What a word means for a partition from `low` to `high`."""
    named = {"earliest": low, "latest": high, "current": high if current is None else current}
    if to in named:
        return named[to]
    try:
        number = int(to)
    except ValueError as error:
        raise typer.BadParameter(f"--to: {to!r} is none of: {TO}") from error
    return (high if current is None else current) + number if to[0] in "+-" else number


def report(name: str, rows: list[dict[str, Any]], *, is_done: bool, as_json: bool) -> None:
    if as_json:
        say_json({"group": name, "partitions": rows, "executed": is_done})
        return
    table([list(row.values()) for row in rows], "topic", "partition", "from", "to")
    say(f"{name} goes on from there" if is_done else "nothing is changed yet: add --execute")
