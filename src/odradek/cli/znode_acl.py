"""`odradek znode acl`: who may do what with a znode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from odradek.cli.options import Json, ZooKeeper
from odradek.cli.output import say, say_json
from odradek.cli.znode import Path, app, with_client

if TYPE_CHECKING:
    from odradek.zookeeper.client.aio import ZooKeeperClient
    from odradek.zookeeper.wire.messages.data import ACL

LETTERS = {"r": 1, "w": 2, "c": 4, "d": 8, "a": 16}


@app.command("acl")
def acl(
    path: Path,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SCHEME:ID:PERMS", help="world:anyone:r; may be repeated."),
    ] = None,
    zookeeper: ZooKeeper = None,
    json: Json = False,
) -> None:
    """Show, or with --set replace, the ACL of a znode (perms: r w c d a)."""
    wanted = [read_acl(text) for text in set_ or ()]

    async def work(client: ZooKeeperClient) -> list[ACL]:
        if wanted:
            await client.set_acl(path, wanted)
        found, _ = await client.get_acl(path)
        return found

    entries = [
        {"scheme": it.id.scheme, "id": it.id.id, "perms": letters_of(it.perms)}
        for it in with_client(zookeeper, work)
    ]
    if json:
        say_json({"path": path, "acl": entries})
    else:
        for it in entries:
            say(f"{it['scheme']}:{it['id']}:{it['perms']}")


def read_acl(text: str) -> ACL:
    from odradek.zookeeper.wire.messages.data import ACL, Id

    scheme, _, rest = text.partition(":")
    id_, _, perms = rest.rpartition(":")
    if not scheme or not id_ or not perms or set(perms) - set(LETTERS):
        raise typer.BadParameter(f"{text!r} is not of the form SCHEME:ID:PERMS with perms of rwcda")
    return ACL(sum(LETTERS[it] for it in set(perms)), Id(scheme, id_))


def letters_of(perms: int) -> str:
    return "".join(letter for letter, bit in LETTERS.items() if perms & bit)
