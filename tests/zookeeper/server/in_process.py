"""A server in the test's own loop, on free ports of loopback, and ways to talk to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

from kazoo.client import KazooClient

from odradek.runtime.os_disk import OsDisk
from odradek.zookeeper.server.node import ZooKeeperNode
from tests.zookeeper.zoo_cfg import read

HOST = "127.0.0.1"
ALL_WORDS = "4lw.commands.whitelist=*\n"
DEFAULTS = f"""\
tickTime=2000
clientPort=0
clientPortAddress={HOST}
admin.serverPort=0
admin.serverAddress={HOST}
preAllocSize=64
"""


@asynccontextmanager
async def serving(
    directory: Path, text: str = ALL_WORDS, jvm_flags: str = ""
) -> AsyncIterator[ZooKeeperNode]:
    """A server as long as the block, with these lines in its zoo.cfg."""
    settings = read(f"dataDir={directory}\n{DEFAULTS}{text}", jvm_flags)
    node = ZooKeeperNode(settings, OsDisk(), Random(1))
    await node.start()
    try:
        yield node
    finally:
        await node.stop()


@asynccontextmanager
async def connected(node: ZooKeeperNode, timeout_s: float = 10) -> AsyncIterator[Any]:
    """A client with a session; its calls block, so they belong into `asyncio.to_thread`."""
    client = KazooClient(f"{HOST}:{node.port}", timeout=timeout_s)
    await asyncio.to_thread(client.start)
    try:
        yield client
    finally:
        await asyncio.to_thread(client.stop)
        await asyncio.to_thread(client.close)


async def ask(port: int, data: bytes) -> bytes:
    """All that is answered, until the server ends the connection."""
    reader, writer = await asyncio.open_connection(HOST, port)
    writer.write(data)
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


async def say(node: ZooKeeperNode, word: bytes) -> str:
    return (await ask(node.port, word)).decode()
