"""`odradek znode`: look at ZooKeeper's tree, and change it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from odradek.cli.endpoints import zookeeper_client
from odradek.cli.options import Json, ZooKeeper
from odradek.cli.output import say, say_json, table
from odradek.cli.payloads import Format, shown, to_bytes
from odradek.cli.reading import time_text
from odradek.cli.typed import new_app, run_app

if TYPE_CHECKING:
    from odradek.zookeeper.client.aio import ZooKeeperClient
    from odradek.zookeeper.wire.messages.data import Stat

app = new_app("Znodes: get, set, create, delete, ls, tree, stat, acl, watch, export, import.")
Path = Annotated[str, typer.Argument(metavar="PATH")]
Form = Annotated[Format, typer.Option("--format")]
Version = Annotated[int, typer.Option("--version", "-v", help="Only if it has this one.")]
Result = TypeVar("Result")


def run(arguments: list[str]) -> int:
    return run_app(app, "znode", arguments, "odradek.cli.znode_tree", "odradek.cli.znode_acl")


def with_client(
    zookeeper: str | None, work: Callable[[ZooKeeperClient], Awaitable[Result]]
) -> Result:
    """Do something in a session of its own; what came of it."""

    async def inside() -> Result:
        async with zookeeper_client(zookeeper) as client:
            return await work(client)

    return asyncio.run(inside())


@app.command("get")
def get(
    path: Path, form: Form = Format.TEXT, zookeeper: ZooKeeper = None, json: Json = False
) -> None:
    """What stands in a znode."""

    async def work(client: ZooKeeperClient) -> tuple[bytes, Stat]:
        return await client.get_data(path)

    data, stat = with_client(zookeeper, work)
    if json:
        say_json({"path": path, "data": shown(data, form), "stat": stat_of(stat)})
    else:
        value = shown(data, form)
        say(value if isinstance(value, str) else str(value))


@app.command("set")
def set_(
    path: Path,
    data: Annotated[str, typer.Argument(metavar="DATA")],
    version: Version = -1,
    form: Form = Format.TEXT,
    zookeeper: ZooKeeper = None,
    json: Json = False,
) -> None:
    """Put something into a znode that is there."""

    async def work(client: ZooKeeperClient) -> Stat:
        return await client.set_data(path, to_bytes(data, form), version)

    stat = with_client(zookeeper, work)
    if json:
        say_json({"path": path, "stat": stat_of(stat)})
    else:
        say(f"{path} has version {stat.version}")


@app.command("create")
def create(
    path: Path,
    data: Annotated[str, typer.Argument(metavar="[DATA]")] = "",
    sequential: Annotated[bool, typer.Option("--sequential", "-s")] = False,
    parents: Annotated[bool, typer.Option("--parents", "-p", help="Make them, too.")] = False,
    form: Form = Format.TEXT,
    zookeeper: ZooKeeper = None,
    json: Json = False,
) -> None:
    """Make a znode that stays."""
    from odradek.zookeeper.wire.codes import CreateMode

    mode = CreateMode.PERSISTENT_SEQUENTIAL if sequential else CreateMode.PERSISTENT

    async def work(client: ZooKeeperClient) -> str:
        if parents:
            await make_parents(client, path)
        return await client.create(path, to_bytes(data, form), mode=mode)

    made = with_client(zookeeper, work)
    if json:
        say_json({"path": made})
    else:
        say(f"created {made}")


async def make_parents(client: ZooKeeperClient, path: str) -> None:
    from odradek.zookeeper.client.errors import NodeExists

    parts = path.strip("/").split("/")[:-1]
    for count in range(1, len(parts) + 1):
        try:
            await client.create("/" + "/".join(parts[:count]))
        except NodeExists:
            continue


@app.command("delete")
def delete(
    path: Path,
    version: Version = -1,
    recursive: Annotated[bool, typer.Option("--recursive", "-r", help="All below, too.")] = False,
    zookeeper: ZooKeeper = None,
    json: Json = False,
) -> None:
    """Take a znode away."""

    async def work(client: ZooKeeperClient) -> list[str]:
        doomed = [path]
        if recursive:
            from odradek.cli.znode_tree import walk

            doomed = [it async for it, _, _ in walk(client, path)][::-1]
        for it in doomed:
            await client.delete(it, version if it == path else -1)
        return doomed

    gone = with_client(zookeeper, work)
    if json:
        say_json({"deleted": gone})
    else:
        say(f"deleted {len(gone)} znodes" if recursive else f"deleted {path}")


@app.command("ls")
def ls(
    path: Annotated[str, typer.Argument(metavar="[PATH]")] = "/",
    zookeeper: ZooKeeper = None,
    json: Json = False,
) -> None:
    """The children of a znode."""

    async def work(client: ZooKeeperClient) -> list[str]:
        return sorted(await client.get_children(path))

    names = with_client(zookeeper, work)
    if json:
        say_json({"path": path, "children": names})
    else:
        for name in names:
            say(name)


@app.command("stat")
def stat_command(path: Path, zookeeper: ZooKeeper = None, json: Json = False) -> None:
    """The numbers of a znode."""

    async def work(client: ZooKeeperClient) -> tuple[bytes, Stat]:
        return await client.get_data(path)

    _, stat = with_client(zookeeper, work)
    said = stat_of(stat)
    if json:
        say_json({"path": path, "stat": said})
    else:
        table([[key, value] for key, value in said.items()], "", path)


def stat_of(stat: Stat) -> dict[str, Any]:
    return {
        "czxid": stat.czxid,
        "mzxid": stat.mzxid,
        "pzxid": stat.pzxid,
        "created": time_text(stat.ctime),
        "modified": time_text(stat.mtime),
        "version": stat.version,
        "cversion": stat.cversion,
        "aversion": stat.aversion,
        "ephemeral_owner": f"{stat.ephemeral_owner:#x}" if stat.ephemeral_owner else None,
        "data_length": stat.data_length,
        "children": stat.num_children,
    }
