"""The search for a server that takes writes, by a client whose own is cut off from the others."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from odradek.zookeeper.client.connect_string import Address
from odradek.zookeeper.client.hosts import Hosts

PAUSE_S_FIRST = 0.1
PAUSE_S_MAX = 60.0
PATIENCE_S = 1.0
QUESTION = b"isro"
TAKES_WRITES = b"rw"


async def find_writer(hosts: Hosts) -> None:
    """Return when the server to try next is one that takes writes."""
    pause_s = PAUSE_S_FIRST
    while True:
        await asyncio.sleep(pause_s)
        if await takes_writes(hosts.next()):
            hosts.step_back()
            return
        pause_s = min(2 * pause_s, PAUSE_S_MAX)


async def takes_writes(address: Address) -> bool:
    """Ask one server, by a four-letter word."""
    with suppress(OSError, asyncio.IncompleteReadError):
        async with asyncio.timeout(PATIENCE_S):
            return await _ask(address) == TAKES_WRITES
    return False


async def _ask(address: Address) -> bytes:
    reader, writer = await asyncio.open_connection(*address)
    try:
        writer.write(QUESTION)
        return await reader.readexactly(len(TAKES_WRITES))
    finally:
        writer.transport.abort()
