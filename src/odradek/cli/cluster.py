"""`odradek cluster`: who is there, who is controller, what is out of sync."""

from __future__ import annotations

import asyncio
import json as json_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from odradek.cli.endpoints import open_cluster, zookeeper_client, zookeeper_in
from odradek.cli.options import Bootstrap, Json, ZooKeeper
from odradek.cli.output import say, say_json, table
from odradek.cli.topic import described
from odradek.cli.typed import run_app, single_app
from odradek.local.directory import DEFAULT, running_address

if TYPE_CHECKING:
    from odradek.kafka.wire.messages.metadata import MetadataResponse

app = single_app()
UNHEALTHY = 1


def run(arguments: list[str]) -> int:
    return run_app(app, "cluster", arguments)


@app.command()
def cluster(
    bootstrap: Bootstrap = None,
    zookeeper: ZooKeeper = None,
    check: Annotated[
        bool, typer.Option("--check", help="Fail (exit code 1) unless all is in sync.")
    ] = False,
    json: Json = False,
) -> None:
    """Brokers, controller, epochs, ISR; epochs are told by ZooKeeper, where one is known."""
    from odradek.kafka.client.topic_admin import describe

    picture = open_cluster(bootstrap)
    said = facts(describe(picture), described(picture, None))
    zookeeper = zookeeper or zookeeper_in(bootstrap)
    has_zookeeper = zookeeper or (bootstrap is None and running_address(Path(DEFAULT)))
    epochs = asyncio.run(epochs_in(zookeeper)) if has_zookeeper else {}
    said["controller_epoch"] = epochs.get("controller_epoch")
    for broker in said["brokers"]:
        broker["epoch"] = epochs.get("brokers", {}).get(broker["broker"])
    if json:
        say_json(said)
    else:
        show_table(said)
    if check and (said["under_replicated"] or said["offline"]):
        raise typer.Exit(UNHEALTHY)


def facts(answer: MetadataResponse, topics: list[dict[str, Any]]) -> dict[str, Any]:
    partitions = [(t["topic"], it) for t in topics for it in t["partitions"]]
    return {
        "cluster_id": answer.cluster_id,
        "controller": None if answer.controller_id < 0 else answer.controller_id,
        "brokers": [
            {
                "broker": it.node_id,
                "endpoint": f"{it.host}:{it.port}",
                "rack": it.rack,
                "leads": sum(p["leader"] == it.node_id for _, p in partitions),
                "replicas": sum(it.node_id in p["replicas"] for _, p in partitions),
                "in_sync": sum(it.node_id in p["isr"] for _, p in partitions),
            }
            for it in sorted(answer.brokers, key=lambda it: it.node_id)
        ],
        "topics": len(topics),
        "partitions": len(partitions),
        "under_replicated": [
            {"topic": name, **{key: p[key] for key in ("partition", "leader", "replicas", "isr")}}
            for name, p in partitions
            if len(p["isr"]) < len(p["replicas"])
        ],
        "offline": [
            {"topic": name, "partition": p["partition"]}
            for name, p in partitions
            if p["leader"] is None
        ],
    }


async def epochs_in(zookeeper: str | None) -> dict[str, Any]:
    """Epochs of the controller and of each broker: the zxid that its registration was made in."""
    async with zookeeper_client(zookeeper) as client:
        data, _ = await client.get_data("/controller_epoch")
        brokers = {}
        for name in await client.get_children("/brokers/ids"):
            stat = await client.exists(f"/brokers/ids/{name}")
            if stat is not None:
                brokers[int(name)] = stat.czxid
    return {"controller_epoch": json_.loads(data), "brokers": brokers}


def show_table(said: dict[str, Any]) -> None:
    epoch = said["controller_epoch"]
    say(
        f"cluster {said['cluster_id']}  controller {said['controller']}"
        + (f" (epoch {epoch})" if epoch is not None else "")
        + f"  {said['topics']} topics, {said['partitions']} partitions"
    )
    keys = "broker", "endpoint", "rack", "leads", "in_sync", "replicas", "epoch"
    table([[it[key] for key in keys] for it in said["brokers"]], *keys)
    for it in said["under_replicated"]:
        say(f"{it['topic']}-{it['partition']}: in sync {it['isr']} of {it['replicas']}")
    for it in said["offline"]:
        say(f"{it['topic']}-{it['partition']}: nobody leads")
    if not said["under_replicated"] and not said["offline"]:
        say("all partitions are led and in sync")
