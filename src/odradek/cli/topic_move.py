"""`odradek topic move`: partitions go to other brokers, and back to their preferred leaders.

A plan is a file that Apache's kafka-reassign-partitions reads and writes too. Limits are lifted
once all has arrived; until then they stay, and the same command, given again, goes on waiting.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Annotated, Any

import typer

from odradek.cli.endpoints import open_cluster
from odradek.cli.options import Bootstrap, DryRun, Json
from odradek.cli.output import say, say_json, table
from odradek.cli.reading import read_numbers
from odradek.cli.topic import app, described

if TYPE_CHECKING:
    from odradek.kafka.admin.plans import Placement
    from odradek.kafka.client.cluster import Cluster
    from odradek.kafka.client.errors import TopicPartition

    Before = dict[TopicPartition, list[int]]

LOOK_AGAIN_S = 0.2


@app.command("move")
def move(
    name: Annotated[str | None, typer.Argument(metavar="TOPIC", show_default=False)] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="1,2,3", help="Brokers; each partition starts one on."),
    ] = None,
    partition: Annotated[
        list[int] | None, typer.Option("--partition", "-p", help="Only this; may be given again.")
    ] = None,
    replicas: Annotated[int | None, typer.Option("--replicas", "-r", min=1)] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            dir_okay=False,
            metavar="FILE",
            help="Do what this plan says; with TOPIC and --to, write it.",
        ),
    ] = None,
    throttle: Annotated[
        int | None,
        typer.Option(min=1, metavar="BYTES", help="A second, between brokers, until all is there."),
    ] = None,
    log_dirs_throttle: Annotated[
        int | None,
        typer.Option(min=1, metavar="BYTES", help="A second, between directories of a broker."),
    ] = None,
    wait: Annotated[float, typer.Option(metavar="SECONDS", help="How long to wait.")] = 60.0,
    dry_run: DryRun = False,
    bootstrap: Bootstrap = None,
    json: Json = False,
) -> None:
    """Move partitions to brokers, and let the first replica of each lead."""
    if (name is None) != (to is None) or (name is None and plan is None):
        raise typer.BadParameter("give TOPIC and --to, or a --plan, or all of them")
    read = read_plan_file(plan) if name is None and plan is not None else None
    cluster = open_cluster(bootstrap)
    if read is None:
        assert name is not None and to is not None
        before = placed(cluster, [name], partition)
        wanted = spread(before, read_numbers(to, "--to"), replicas)
        if plan is not None:
            write_plan_file(plan, wanted)
    else:
        wanted = read
        before = placed(cluster, sorted({it.topic for it in wanted}), None)
        check_known(before, wanted)
    is_done = not dry_run and carry_out(
        cluster, before, wanted, (throttle, log_dirs_throttle), wait
    )
    report(before, wanted, is_done=is_done, is_dry_run=dry_run, as_json=json)


def read_plan_file(path: Path) -> list[Placement]:
    from odradek.kafka.admin.plans import BadPlan, read_plan

    try:
        return read_plan(path.read_text())
    except (BadPlan, OSError) as error:
        raise typer.BadParameter(f"{path}: {error}") from error


def write_plan_file(path: Path, wanted: list[Placement]) -> None:
    from odradek.kafka.admin.plans import write_plan

    try:
        path.write_text(write_plan(wanted) + "\n")
    except OSError as error:
        raise typer.BadParameter(f"{path}: {error}") from error


def placed(cluster: Cluster, names: list[str], only: list[int] | None) -> Before:
    """Where partitions are."""
    from odradek.kafka.client.errors import TopicPartition

    found = {
        TopicPartition(topic["topic"], it["partition"]): it["replicas"]
        for topic in described(cluster, names)
        for it in topic["partitions"]
        if not only or it["partition"] in only
    }
    if not found:
        raise typer.BadParameter(f"{', '.join(names)} has no such partition")
    return found


def check_known(before: Before, wanted: list[Placement]) -> None:
    for it in wanted:
        if (it.topic, it.partition) not in before:
            raise typer.BadParameter(f"{it.topic} has no partition {it.partition}")


def spread(before: Before, brokers: Sequence[int], replicas: int | None) -> list[Placement]:
    """Where each partition goes: as many replicas as before, leaders taking turns."""
    from odradek.kafka.admin.plans import Placement

    found = []
    for number, (partition, ids) in enumerate(sorted(before.items())):
        count = replicas or len(ids)
        if count > len(brokers):
            raise typer.BadParameter(
                f"{partition} has {count} replicas, and --to names {len(brokers)} brokers"
            )
        chosen = tuple(brokers[(number + it) % len(brokers)] for it in range(count))
        found.append(Placement(*partition, chosen))
    return found


def carry_out(
    cluster: Cluster,
    before: Before,
    wanted: list[Placement],
    throttles: tuple[int | None, int | None],
    within_s: float,
) -> bool:
    """Move, and wait; whether all arrived in time. Then limits are lifted, and leaders elected."""
    from odradek.kafka.admin.plans import limited
    from odradek.kafka.client import move_admin
    from odradek.kafka.client.errors import TopicPartition
    from odradek.kafka.client.topic_admin import elect_preferred, move_partitions

    deadline = monotonic() + within_s
    between_brokers, between_directories = throttles
    who = limited({(it.topic, it.partition): ids for it, ids in before.items()}, wanted)
    if between_brokers is not None:
        move_admin.limit_replication(cluster, who, between_brokers)
    brokers = sorted({broker for it in wanted for broker in it.directories})
    if between_directories is not None:
        move_admin.limit_log_dirs(cluster, brokers, between_directories)
    targets = {TopicPartition(it.topic, it.partition): it.replicas for it in wanted}
    move_partitions(cluster, targets)
    if not await_directories(cluster, wanted, deadline):
        return False
    if not await_moves(cluster, targets.keys(), deadline):
        return False
    if between_brokers is not None:
        move_admin.lift_limits(cluster, who)
    if between_directories is not None:
        move_admin.limit_log_dirs(cluster, brokers, None)
    elect_preferred(cluster, targets)
    return True


def await_directories(cluster: Cluster, wanted: list[Placement], deadline: float) -> bool:
    """Have replicas move to their directories, once they are there; whether all are, in time."""
    from odradek.kafka.client.errors import TopicPartition
    from odradek.kafka.client.move_admin import move_log_dirs, not_arrived

    by_broker: dict[int, dict[TopicPartition, str]] = {}
    for it in wanted:
        for broker, path in it.directories.items():
            by_broker.setdefault(broker, {})[TopicPartition(it.topic, it.partition)] = path
    missing = {broker: move_log_dirs(cluster, broker, it) for broker, it in by_broker.items()}
    while any(missing[it] or not_arrived(cluster, it, by_broker[it]) for it in by_broker):
        if monotonic() > deadline:
            return False
        sleep(LOOK_AGAIN_S)
        for broker, late in missing.items():
            missing[broker] = move_log_dirs(cluster, broker, late) if late else late
    return True


def await_moves(cluster: Cluster, partitions: Any, deadline: float) -> bool:
    """Whether all arrived in time."""
    from odradek.kafka.client.topic_admin import moves_under_way

    while partitions & moves_under_way(cluster).keys():
        if monotonic() > deadline:
            return False
        sleep(LOOK_AGAIN_S)
    return True


def report(
    before: Before,
    wanted: list[Placement],
    *,
    is_done: bool,
    is_dry_run: bool,
    as_json: bool,
) -> None:
    from odradek.kafka.client.errors import TopicPartition

    moves: list[dict[str, Any]] = [
        {
            "topic": it.topic,
            "partition": it.partition,
            "from": before[TopicPartition(it.topic, it.partition)],
            "to": list(it.replicas),
        }
        for it in wanted
    ]
    if as_json:
        say_json({"moves": moves, "done": is_done, "dry_run": is_dry_run})
        return
    table([list(it.values()) for it in moves], "topic", "partition", "from", "to")
    say("would be moved" if is_dry_run else "moved" if is_done else "still under way")
