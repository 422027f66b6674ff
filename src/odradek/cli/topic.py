"""`odradek topic`: create, list, describe, alter, delete, move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from odradek.cli.endpoints import open_cluster
from odradek.cli.options import Bootstrap, DryRun, Json
from odradek.cli.output import say, say_json, table
from odradek.cli.reading import read_placement, read_settings
from odradek.cli.typed import new_app, run_app

if TYPE_CHECKING:
    from odradek.kafka.client.cluster import Cluster
    from odradek.kafka.wire.messages.metadata import MetadataResponseTopic

app = new_app("Topics: create, list, describe, alter, delete, move.")
Names = Annotated[list[str], typer.Argument(metavar="TOPIC…")]
Name = Annotated[str, typer.Argument(metavar="TOPIC")]
Settings = Annotated[
    list[str] | None, typer.Option("--config", "-c", metavar="KEY=VALUE", help="A setting.")
]


def run(arguments: list[str]) -> int:
    return run_app(app, "topic", arguments, "odradek.cli.topic_move")


@app.command("create")
def create(
    name: Name,
    partitions: Annotated[int | None, typer.Option("--partitions", "-p", min=1)] = None,
    replicas: Annotated[int | None, typer.Option("--replicas", "-r", min=1)] = None,
    config: Settings = None,
    placement: Annotated[
        str | None,
        typer.Option(metavar="1:2,2:3", help="Brokers of each partition, the leader first."),
    ] = None,
    dry_run: DryRun = False,
    bootstrap: Bootstrap = None,
    json: Json = False,
) -> None:
    """Make a topic; return when it is led."""
    from odradek.kafka.client.topic_admin import create_topic

    cluster = open_cluster(bootstrap)
    create_topic(
        cluster,
        name,
        partitions=partitions or -1,
        replicas=replicas or -1,
        assignment=dict(enumerate(read_placement(placement))) if placement else None,
        configs=read_settings(config),
        is_dry_run=dry_run,
    )
    if json:
        said: dict[str, Any] = {"topic": name, "dry_run": dry_run}
        say_json(said if dry_run else said | described(cluster, [name])[0])
    else:
        say(f"{name} {'could be' if dry_run else 'is'} created")


@app.command("list")
def list_(
    internal: Annotated[bool, typer.Option(help="Those of Kafka itself, too.")] = False,
    bootstrap: Bootstrap = None,
    json: Json = False,
) -> None:
    """All topics."""
    topics = [
        it for it in described(open_cluster(bootstrap), None) if internal or not it["internal"]
    ]
    keys = "topic", "partitions", "replicas", "under_replicated", "internal"
    rows = [{key: summary(it)[key] for key in keys} for it in topics]
    if json:
        say_json(rows)
    else:
        table(
            [list(row.values()) for row in rows],
            "topic",
            "partitions",
            "replicas",
            "short",
            "internal",
        )


@app.command("describe")
def describe_(names: Names, bootstrap: Bootstrap = None, json: Json = False) -> None:
    """Partitions, leaders, replicas, and the settings that differ from the default."""
    cluster = open_cluster(bootstrap)
    topics = described(cluster, names)
    for topic in topics:
        topic["configs"] = own_settings(cluster, topic["topic"])
    if json:
        say_json(topics)
        return
    for topic in topics:
        settings = " ".join(f"{key}={value}" for key, value in topic["configs"].items())
        say(f"{topic['topic']}  id {topic['topic_id']}  {settings}".rstrip())
        keys = "partition", "leader", "leader_epoch", "replicas", "isr", "offline"
        rows = [[it[key] for key in keys] for it in topic["partitions"]]
        table(rows, "partition", "leader", "epoch", "replicas", "ISR", "offline")


@app.command("alter")
def alter(
    name: Name,
    partitions: Annotated[
        int | None, typer.Option("--partitions", "-p", min=1, help="More than there are.")
    ] = None,
    config: Settings = None,
    unset: Annotated[list[str] | None, typer.Option("--unset", "-u", metavar="KEY")] = None,
    dry_run: DryRun = False,
    bootstrap: Bootstrap = None,
    json: Json = False,
) -> None:
    """Add partitions, set and unset settings."""
    from odradek.kafka.client.config_admin import Resource, alter_configs
    from odradek.kafka.client.topic_admin import add_partitions, describe

    cluster = open_cluster(bootstrap)
    describe(cluster, [name])
    changes = read_settings(config)
    if partitions is None and not changes and not unset:
        raise typer.BadParameter("nothing to change: name --partitions, --config or --unset")
    if changes or unset:
        alter_configs(cluster, Resource.TOPIC, name, changes, unset or (), is_dry_run=dry_run)
    if partitions is not None:
        add_partitions(cluster, name, partitions, is_dry_run=dry_run)
        if not dry_run:
            cluster.await_topic(name)
    said = {"topic": name, "partitions": partitions, "set": changes, "unset": unset or []}
    if json:
        say_json(said | {"dry_run": dry_run})
    else:
        say(f"{name} {'could be' if dry_run else 'is'} altered")


@app.command("delete")
def delete(names: Names, bootstrap: Bootstrap = None, json: Json = False) -> None:
    """Take topics away, with all that is in them."""
    from odradek.kafka.client.topic_admin import delete_topics

    delete_topics(open_cluster(bootstrap), names)
    if json:
        say_json({"deleted": names})
    else:
        say(f"deleted: {', '.join(names)}")


def described(cluster: Cluster, names: list[str] | None) -> list[dict[str, Any]]:
    """Topics as JSON tells them."""
    from odradek.kafka.client.topic_admin import describe

    answer = describe(cluster, names)
    return [told(it) for it in sorted(answer.topics, key=lambda it: str(it.name))]


def told(topic: MetadataResponseTopic) -> dict[str, Any]:
    from uuid import UUID

    return {
        "topic": topic.name,
        "topic_id": str(UUID(bytes=bytes(topic.topic_id))),
        "internal": topic.is_internal,
        "partitions": [
            {
                "partition": it.partition_index,
                "leader": None if it.leader_id < 0 else it.leader_id,
                "leader_epoch": it.leader_epoch,
                "replicas": it.replica_nodes,
                "isr": it.isr_nodes,
                "offline": it.offline_replicas,
            }
            for it in sorted(topic.partitions, key=lambda it: it.partition_index)
        ],
    }


def summary(topic: dict[str, Any]) -> dict[str, Any]:
    partitions = topic["partitions"]
    return topic | {
        "partitions": len(partitions),
        "replicas": max((len(it["replicas"]) for it in partitions), default=0),
        "under_replicated": sum(len(it["isr"]) < len(it["replicas"]) for it in partitions),
    }


def own_settings(cluster: Cluster, name: str) -> dict[str, str | None]:
    """What was set for this topic alone."""
    from odradek.kafka.client.config_admin import ConfigSource, Resource, describe_configs

    configs = describe_configs(cluster, Resource.TOPIC, name)
    return {it.name: it.value for it in configs if it.config_source == ConfigSource.TOPIC}
