"""The options that many commands share."""

from __future__ import annotations

from typing import Annotated

import typer

Bootstrap = Annotated[
    str | None,
    typer.Option(
        "--bootstrap",
        "-b",
        envvar="ODRADEK_BOOTSTRAP",
        metavar="HOST:PORT,…",
        help="Brokers, or zk://HOST:PORT,…/CHROOT for those that ZooKeeper knows; by default those "
        "of the cluster that runs in ./.odradek.",
        show_default=False,
    ),
]
ZooKeeper = Annotated[
    str | None,
    typer.Option(
        "--zookeeper",
        "-z",
        envvar="ODRADEK_ZOOKEEPER",
        metavar="HOST:PORT,…",
        help="ZooKeepers; by default those of the cluster that runs in ./.odradek.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Say it in JSON.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")]
