"""`odradek txn`: transactions, who hangs, and an end to it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from odradek.cli.endpoints import open_cluster
from odradek.cli.options import Bootstrap, Json
from odradek.cli.output import say, say_json, table
from odradek.cli.reading import time_text
from odradek.cli.typed import new_app, run_app
from odradek.kafka.client import transaction_admin
from odradek.kafka.client.errors import TopicPartition

app = new_app("Transactions: list, describe, producers, abort.")
Place = Annotated[str, typer.Argument(metavar="TOPIC:PARTITION")]


def run(arguments: list[str]) -> int:
    return run_app(app, "txn", arguments)


@app.command("list")
def list_(bootstrap: Bootstrap = None, json: Json = False) -> None:
    """All transactional ids that coordinators know of."""
    rows = [
        {
            "transactional_id": it.transactional_id,
            "coordinator": address,
            "producer_id": it.producer_id,
            "state": it.transaction_state,
        }
        for address, it in transaction_admin.list_transactions(open_cluster(bootstrap))
    ]
    if json:
        say_json(rows)
    else:
        table([list(it.values()) for it in rows], "id", "coordinator", "producer id", "state")


@app.command("describe")
def describe(
    transactional_id: Annotated[str, typer.Argument(metavar="ID")],
    bootstrap: Bootstrap = None,
    json: Json = False,
) -> None:
    """State, producer and partitions of one."""
    it = transaction_admin.describe_transaction(open_cluster(bootstrap), transactional_id)
    said: dict[str, Any] = {
        "transactional_id": it.transactional_id,
        "state": it.transaction_state,
        "producer_id": it.producer_id,
        "producer_epoch": it.producer_epoch,
        "timeout_ms": it.transaction_timeout_ms,
        "started": time_text(it.transaction_start_time_ms),
        "partitions": [f"{t.topic}-{number}" for t in it.topics for number in t.partitions],
    }
    if json:
        say_json(said)
    else:
        table([[key, value] for key, value in said.items()], "", transactional_id)


@app.command("producers")
def producers(place: Place, bootstrap: Bootstrap = None, json: Json = False) -> None:
    """Who writes to a partition, and since where a transaction is open on it."""
    rows = [
        {
            "producer_id": it.producer_id,
            "epoch": it.producer_epoch,
            "last_sequence": it.last_sequence,
            "last_time": time_text(it.last_timestamp),
            "open_since": None if it.current_txn_start_offset < 0 else it.current_txn_start_offset,
        }
        for it in transaction_admin.active_producers(open_cluster(bootstrap), read_place(place))
    ]
    if json:
        say_json(rows)
    else:
        columns = "producer id", "epoch", "last sequence", "last time", "open since"
        table([list(it.values()) for it in rows], *columns)


@app.command("abort")
def abort(
    place: Place,
    producer_id: Annotated[int, typer.Option("--producer-id", help="Whose.")],
    bootstrap: Bootstrap = None,
    json: Json = False,
) -> None:
    """Abort a transaction that hangs on a partition: its coordinator has forgotten it."""
    cluster, partition = open_cluster(bootstrap), read_place(place)
    for it in transaction_admin.active_producers(cluster, partition):
        if it.producer_id == producer_id and it.current_txn_start_offset >= 0:
            transaction_admin.abort_on(cluster, partition, it)
            break
    else:
        raise typer.BadParameter(f"{place}: producer {producer_id} has no transaction open there")
    if json:
        say_json({"partition": str(partition), "producer_id": producer_id, "aborted": True})
    else:
        say(f"aborted what producer {producer_id} had open on {partition}")


def read_place(text: str) -> TopicPartition:
    topic, _, number = text.rpartition(":")
    if not topic or not number.isdecimal():
        raise typer.BadParameter(f"{text!r} is not of the form TOPIC:PARTITION")
    return TopicPartition(topic, int(number))
