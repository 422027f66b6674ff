"""Requests that survive lost connections, because doing them twice does no harm."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import ParamSpec, TypeVar

from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.errors import ConnectionLoss, NodeExists, NoNode
from odradek.zookeeper.client.states import State

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
SETTLED = tuple(state for state in State if state is not State.SUSPENDED)


async def patiently(
    client: ZooKeeperClient,
    ask: Callable[Parameters, Awaitable[Result]],
    *args: Parameters.args,
    **kwargs: Parameters.kwargs,
) -> Result:
    """Ask again after each lost connection, until there is an answer or no session."""
    while True:
        await client.until(*SETTLED)
        with suppress(ConnectionLoss):
            return await ask(*args, **kwargs)


async def ensure_path(client: ZooKeeperClient, path: str) -> None:
    """Make a persistent znode and all above it, as far as they are missing."""
    names = [name for name in path.split("/") if name]
    for depth in range(1, len(names) + 1):
        above = "/" + "/".join(names[:depth])
        with suppress(NodeExists):
            await patiently(client, client.create, above)


async def delete_if_there(client: ZooKeeperClient, path: str) -> None:
    with suppress(NoNode):
        await patiently(client, client.delete, path)
