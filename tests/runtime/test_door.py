"""A port that is open before anyone serves it."""

from __future__ import annotations

import asyncio
import socket
from contextlib import closing

import pytest

from odradek.runtime.door import open_door

HOST = "127.0.0.1"


async def served(listening: socket.socket) -> bytes:
    """What one who waits there is told, once somebody serves."""

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readexactly(5))
        writer.close()
        await writer.wait_closed()

    with closing(socket.create_connection(listening.getsockname())) as early:
        early.sendall(b"early")
        async with await asyncio.start_server(greet, sock=listening):
            early.setblocking(False)
            return await asyncio.get_running_loop().sock_recv(early, 5)


def test_who_came_early_is_served_later() -> None:
    (listening,) = open_door(HOST, 0, backlog=8)
    assert asyncio.run(served(listening)) == b"early"


def test_a_host_is_one_address_and_no_host_is_all_of_this_machine() -> None:
    door = open_door("", 0, backlog=8)
    try:
        port = next(it.getsockname()[1] for it in door if it.family == socket.AF_INET)
        socket.create_connection((HOST, port)).close()
    finally:
        for listening in door:
            listening.close()


def test_a_port_that_is_taken_is_named() -> None:
    (listening,) = open_door(HOST, 0, backlog=8)
    port = listening.getsockname()[1]
    with listening, pytest.raises(OSError, match=f"cannot listen on {HOST}:{port}: .*in use"):
        open_door(HOST, port, backlog=8)
