"""`odradek group`: consumer groups, their members and lag, and where they go on from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from odradek.cli.endpoints import open_cluster
from odradek.cli.options import Bootstrap, Json
from odradek.cli.output import say, say_json, table
from odradek.cli.typed import new_app, run_app
from odradek.kafka.client import group_admin

if TYPE_CHECKING:
    from odradek.kafka.client.cluster import Cluster
    from odradek.kafka.client.errors import TopicPartition
    from odradek.kafka.wire.messages.describe_groups import DescribedGroup

app = new_app("Consumer groups: list, describe, reset, delete.")
Name = Annotated[str, typer.Argument(metavar="GROUP")]


def run(arguments: list[str]) -> int:
    return run_app(app, "group", arguments, "odradek.cli.group_reset")


@app.command("list")
def list_(bootstrap: Bootstrap = None, json: Json = False) -> None:
    """All groups and their state."""
    rows = [
        {"group": it.group_id, "state": it.group_state or None, "protocol": it.protocol_type}
        for it in group_admin.list_groups(open_cluster(bootstrap))
    ]
    if json:
        say_json(rows)
    else:
        table([list(row.values()) for row in rows], "group", "state", "protocol")


@app.command("describe")
def describe(name: Name, bootstrap: Bootstrap = None, json: Json = False) -> None:
    """State, members, and the lag of each partition."""
    cluster = open_cluster(bootstrap)
    group = group_admin.describe_group(cluster, name)
    said = told(group) | {"partitions": lags(cluster, group)}
    said["lag"] = sum(it["lag"] or 0 for it in said["partitions"])
    if json:
        say_json(said)
        return
    say(f"{name}  {group.group_state}  {len(group.members)} members  lag {said['lag']}")
    keys = "topic", "partition", "committed", "end", "lag", "member"
    table([[it[key] for key in keys] for it in said["partitions"]], *keys)


@app.command("delete")
def delete(name: Name, bootstrap: Bootstrap = None, json: Json = False) -> None:
    """Forget a group and what it has committed."""
    group_admin.delete_group(open_cluster(bootstrap), name)
    if json:
        say_json({"deleted": name})
    else:
        say(f"deleted: {name}")


def told(group: DescribedGroup) -> dict[str, Any]:
    return {
        "group": group.group_id,
        "state": group.group_state,
        "protocol": group.protocol_type,
        "assignor": group.protocol_data or None,
        "members": [
            {
                "member": it.member_id,
                "instance": it.group_instance_id,
                "client": it.client_id,
                "host": it.client_host,
                "partitions": [str(one) for one in group_admin.assigned_to(it)],
            }
            for it in group.members
        ],
    }


def lags(cluster: Cluster, group: DescribedGroup) -> list[dict[str, Any]]:
    """Where the group is in each partition that it has committed for, or has been given."""
    from odradek.kafka.client.offsets import LATEST, list_offsets

    committed = group_admin.all_committed(cluster, group.group_id)
    owners = {
        partition: member.member_id
        for member in group.members
        for partition in group_admin.assigned_to(member)
    }
    wanted = existing(cluster, sorted({*committed, *owners}))
    ends = list_offsets(cluster, dict.fromkeys(wanted, LATEST))
    return [
        {
            "topic": it.topic,
            "partition": it.partition,
            "committed": committed.get(it),
            "end": ends[it],
            "lag": lag_of(committed.get(it), ends[it]),
            "member": owners.get(it),
        }
        for it in wanted
    ]


def existing(cluster: Cluster, partitions: list[TopicPartition]) -> list[TopicPartition]:
    """Those that are still there: a group outlives its topics."""
    topics = cluster.topics()
    return [
        it for it in partitions if it.topic in topics and it.partition in topics[it.topic].leaders
    ]


def lag_of(committed: int | None, end: int | None) -> int | None:
    return None if committed is None or end is None else max(0, end - committed)
