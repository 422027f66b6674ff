"""Ending the session of somebody else, as ZooKeeper's own tests do.

Whoever knows the id and the password of a session may take it over, and close it. The password
follows from the id alone, in Apache's servers as in ours.
"""

from __future__ import annotations

import asyncio
from random import Random

from odradek.testing.errors import CannotBeDone
from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.connect_string import parse_connect_string
from odradek.zookeeper.state.sessions import password_of
from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.connection import ClientConnection
from odradek.zookeeper.wire.messages.session import ConnectRequest, ConnectResponse

TIME_OUT_MS = 10_000
PIECE_BYTES = 65_536


async def owner_of(connect_string: str, path: str) -> int:
    """The session that a znode lives by."""
    async with ZooKeeperClient(connect_string, random=Random()) as client:
        stat = await client.exists(path)
    if stat is None or not stat.ephemeral_owner:
        raise CannotBeDone(f"there is no session behind {path}")
    return stat.ephemeral_owner


async def end_session(connect_string: str, session_id: int) -> None:
    """Take a session over, and close it: its ephemerals go, and its client is told it expired."""
    address = parse_connect_string(connect_string).addresses[0]
    reader, writer = await asyncio.open_connection(address.host, address.port)
    wire = ClientConnection()
    try:
        request = ConnectRequest(0, 0, TIME_OUT_MS, session_id, password_of(session_id), False)
        writer.write(wire.connect(request))
        answer = await _next(reader, wire)
        if not isinstance(answer, ConnectResponse) or not answer.session_id:
            raise CannotBeDone(f"there is no session {session_id:#x}")
        _, frame = wire.request(Op.CLOSE_SESSION)
        writer.write(frame)
        await _next(reader, wire)
    finally:
        writer.close()


async def _next(reader: asyncio.StreamReader, wire: ClientConnection) -> object:
    while data := await reader.read(PIECE_BYTES):
        if said := wire.feed(data):
            return said[0]
    raise CannotBeDone("the ZooKeeper closed the connection")
