"""`odradek znode tree`, `watch`, `export` and `import`: whole parts of the tree."""

from __future__ import annotations

import asyncio
import base64
import json as json_
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from odradek.cli.endpoints import zookeeper_client
from odradek.cli.options import Json, ZooKeeper
from odradek.cli.output import say, say_json
from odradek.cli.payloads import Unreadable
from odradek.cli.znode import Path, app, make_parents, with_client

if TYPE_CHECKING:
    from odradek.zookeeper.client.aio import ZooKeeperClient
    from odradek.zookeeper.wire.messages.data import Stat

Root = Annotated[str, typer.Argument(metavar="[PATH]")]
File = Annotated[FilePath, typer.Option("--file", "-f", help="- is standard input or output.")]
STDIO = FilePath("-")
RESERVED = "/zookeeper"


async def walk(client: ZooKeeperClient, path: str) -> AsyncIterator[tuple[str, bytes, Stat]]:
    """A znode and all below it, parents first; what goes away meanwhile is left out."""
    from odradek.zookeeper.client.errors import NoNode

    data, stat = await client.get_data(path)
    yield path, data, stat
    pending = [path]
    while pending:
        parent = pending.pop()
        try:
            names = sorted(await client.get_children(parent))
        except NoNode:
            continue
        found = []
        for name in names:
            child = f"{parent.rstrip('/')}/{name}"
            try:
                data, stat = await client.get_data(child)
            except NoNode:
                continue
            found.append(child)
            yield child, data, stat
        pending += found[::-1]


@app.command("tree")
def tree(
    path: Root = "/",
    depth: Annotated[int, typer.Option("--depth", "-d", min=0)] = 100,
    zookeeper: ZooKeeper = None,
    json: Json = False,
) -> None:
    """A znode and all below it."""
    base = len([it for it in path.split("/") if it])

    async def work(client: ZooKeeperClient) -> list[tuple[str, Stat]]:
        return [(it, stat) async for it, _, stat in walk(client, path)]

    found = []
    for where, stat in sorted(with_client(zookeeper, work)):
        level = len([it for it in where.split("/") if it]) - base
        if level <= depth:
            found.append((where, stat, level))
    if json:
        say_json(
            [
                {
                    "path": where,
                    "data_length": stat.data_length,
                    "children": stat.num_children,
                    "version": stat.version,
                    "ephemeral": bool(stat.ephemeral_owner),
                }
                for where, stat, _ in found
            ]
        )
        return
    for where, stat, level in found:
        name = where if not level else where.rpartition("/")[2]
        marks = f"  ({stat.data_length} bytes)" if stat.data_length else ""
        marks += "  ephemeral" if stat.ephemeral_owner else ""
        say(f"{'  ' * level}{name}{marks}")


@app.command("watch")
def watch(
    path: Path,
    recursive: Annotated[bool, typer.Option("--recursive", "-r", help="All below, too.")] = False,
    count: Annotated[int | None, typer.Option("--count", "-n", min=1)] = None,
    zookeeper: ZooKeeper = None,
    json: Json = False,
) -> None:
    """Say what happens to a znode, as it happens."""

    async def work() -> None:
        from odradek.zookeeper.client.watches import WatchEvent
        from odradek.zookeeper.wire.codes import AddWatchMode

        mode = AddWatchMode.PERSISTENT_RECURSIVE if recursive else AddWatchMode.PERSISTENT
        events: asyncio.Queue[WatchEvent] = asyncio.Queue()
        async with zookeeper_client(zookeeper) as client:
            await client.add_watch(path, events.put_nowait, mode)
            seen = 0
            while seen != count:
                event = await events.get()
                seen += 1
                if json:
                    say_json({"event": event.type.name.lower(), "path": event.path})
                else:
                    say(f"{event.type.name.lower():16} {event.path}")

    with suppress(KeyboardInterrupt):
        asyncio.run(work())


@app.command("export")
def export(path: Root = "/", file: File = STDIO, zookeeper: ZooKeeper = None) -> None:
    """Write a part of the tree as lines of JSON; what lives by a session is left out."""

    async def work(client: ZooKeeperClient) -> list[dict[str, Any]]:
        return [
            {"path": it, "data": base64.b64encode(data).decode(), "version": stat.version}
            async for it, data, stat in walk(client, path)
            if not stat.ephemeral_owner and it != "/" and not is_reserved(it)
        ]

    lines = [json_.dumps(it) for it in sorted(with_client(zookeeper, work), key=by_path)]
    text = "".join(f"{line}\n" for line in lines)
    if file == STDIO:
        sys.stdout.write(text)
    else:
        file.write_text(text)


def by_path(node: dict[str, Any]) -> str:
    path: str = node["path"]
    return path


def is_reserved(path: str) -> bool:
    return path == RESERVED or path.startswith(RESERVED + "/")


@app.command("import")
def import_(
    file: File = STDIO,
    replace: Annotated[bool, typer.Option("--replace", help="Also what is there.")] = False,
    zookeeper: ZooKeeper = None,
    json: Json = False,
) -> None:
    """Make what `export` wrote; what is there already stays, unless --replace."""
    nodes = read_nodes(sys.stdin.read() if file == STDIO else file.read_text())

    async def work(client: ZooKeeperClient) -> dict[str, int]:
        counts = {"created": 0, "replaced": 0, "kept": 0}
        for path, data in nodes:
            counts[await put(client, path, data, is_replacing=replace)] += 1
        return counts

    counts = with_client(zookeeper, work)
    if json:
        say_json(counts)
    else:
        say(", ".join(f"{count} {name}" for name, count in counts.items()))


async def put(client: ZooKeeperClient, path: str, data: bytes, *, is_replacing: bool) -> str:
    from odradek.zookeeper.client.errors import NodeExists

    await make_parents(client, path)
    try:
        await client.create(path, data)
    except NodeExists:
        if not is_replacing:
            return "kept"
        await client.set_data(path, data)
        return "replaced"
    return "created"


def read_nodes(text: str) -> list[tuple[str, bytes]]:
    nodes = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            said = json_.loads(line)
            nodes.append((str(said["path"]), base64.b64decode(said["data"], validate=True)))
        except (ValueError, KeyError, TypeError) as error:
            raise Unreadable(f"line {number} is nothing that export wrote: {error}") from error
    return nodes
