"""`odradek topic move`: partitions go to other brokers, and back to their preferred leaders."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic, sleep
from typing import TYPE_CHECKING, Annotated, Any

import typer

from odradek.cli.endpoints import open_cluster
from odradek.cli.options import Bootstrap, DryRun, Json
from odradek.cli.output import say, say_json, table
from odradek.cli.reading import read_numbers
from odradek.cli.topic import Name, app, described

if TYPE_CHECKING:
    from odradek.kafka.client.cluster import Cluster
    from odradek.kafka.client.errors import TopicPartition

LOOK_AGAIN_S = 0.2


@app.command("move")
def move(
    name: Name,
    to: Annotated[
        str, typer.Option("--to", metavar="1,2,3", help="Brokers; each partition starts one on.")
    ],
    partition: Annotated[
        list[int] | None, typer.Option("--partition", "-p", help="Only this; may be given again.")
    ] = None,
    replicas: Annotated[int | None, typer.Option("--replicas", "-r", min=1)] = None,
    wait: Annotated[float, typer.Option(metavar="SECONDS", help="How long to wait.")] = 60.0,
    dry_run: DryRun = False,
    bootstrap: Bootstrap = None,
    json: Json = False,
) -> None:
    """Move partitions to brokers, and let the first replica of each lead."""
    from odradek.kafka.client.errors import TopicPartition
    from odradek.kafka.client.topic_admin import move_partitions

    cluster = open_cluster(bootstrap)
    (topic,) = described(cluster, [name])
    before = {
        TopicPartition(name, it["partition"]): it["replicas"]
        for it in topic["partitions"]
        if not partition or it["partition"] in partition
    }
    if not before:
        raise typer.BadParameter(f"{name} has no such partition")
    targets = spread(before, read_numbers(to, "--to"), replicas)
    is_done = False
    if not dry_run:
        move_partitions(cluster, targets)
        is_done = await_moves(cluster, targets, wait)
    report(before, targets, is_done=is_done, is_dry_run=dry_run, as_json=json)


def spread(
    before: dict[TopicPartition, list[int]], brokers: Sequence[int], replicas: int | None
) -> dict[TopicPartition, list[int]]:
    """Where each partition goes: as many replicas as before, leaders taking turns."""
    found = {}
    for number, (partition, ids) in enumerate(sorted(before.items())):
        count = replicas or len(ids)
        if count > len(brokers):
            raise typer.BadParameter(
                f"{partition} has {count} replicas, and --to names {len(brokers)} brokers"
            )
        found[partition] = [brokers[(number + it) % len(brokers)] for it in range(count)]
    return found


def await_moves(
    cluster: Cluster, targets: dict[TopicPartition, list[int]], within_s: float
) -> bool:
    """Whether all arrived in time; then the first of each is made to lead."""
    from odradek.kafka.client.topic_admin import elect_preferred, moves_under_way

    deadline = monotonic() + within_s
    while targets.keys() & moves_under_way(cluster).keys():
        if monotonic() > deadline:
            return False
        sleep(LOOK_AGAIN_S)
    elect_preferred(cluster, targets)
    return True


def report(
    before: dict[TopicPartition, list[int]],
    targets: dict[TopicPartition, list[int]],
    *,
    is_done: bool,
    is_dry_run: bool,
    as_json: bool,
) -> None:
    moves: list[dict[str, Any]] = [
        {"topic": it.topic, "partition": it.partition, "from": before[it], "to": target}
        for it, target in targets.items()
    ]
    if as_json:
        say_json({"moves": moves, "done": is_done, "dry_run": is_dry_run})
        return
    table([list(it.values()) for it in moves], "topic", "partition", "from", "to")
    say("would be moved" if is_dry_run else "moved" if is_done else "still under way")
