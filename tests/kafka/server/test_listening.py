"""What a listener gives to those whom it accepts."""

from __future__ import annotations

import asyncio
import socket

import pytest
import uvloop

from odradek.kafka.server.listening import size_buffers
from odradek.kafka.settings import BrokerSettings
from odradek.runtime.properties import Properties

HOST = "127.0.0.1"
RECEIVE, SEND = (socket.SOL_SOCKET, socket.SO_RCVBUF), (socket.SOL_SOCKET, socket.SO_SNDBUF)
LOOPS = [asyncio.new_event_loop, uvloop.new_event_loop]


async def sizes_with(given: dict[str, str]) -> tuple[int, int]:
    """How large the buffers of an accepted socket are, to receive and to send."""
    accepted: asyncio.Future[tuple[int, int]] = asyncio.get_running_loop().create_future()

    class Accepted(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            its = transport.get_extra_info("socket")
            accepted.set_result((its.getsockopt(*RECEIVE), its.getsockopt(*SEND)))

    texts = {"zookeeper.connect": "nowhere:2181", **given}
    settings = BrokerSettings(Properties.of(texts, "server.properties"))
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Accepted, HOST, 0, start_serving=False)
    size_buffers(server, settings)
    await server.start_serving()
    _, writer = await asyncio.open_connection(HOST, server.sockets[0].getsockname()[1])
    found = await accepted
    writer.close()
    server.close()
    return found


@pytest.mark.parametrize("new_loop", LOOPS)
def test_buffers_have_the_size_that_the_file_says(new_loop: type[asyncio.BaseEventLoop]) -> None:
    given = {"socket.receive.buffer.bytes": "30000", "socket.send.buffer.bytes": "20000"}
    with asyncio.Runner(loop_factory=new_loop) as runner:
        receive, send = runner.run(sizes_with(given))
    assert receive == 2 * 30_000  # The kernel counts its own share.
    assert send == 2 * 20_000


@pytest.mark.parametrize("given", [{}, {"socket.receive.buffer.bytes": "-1"}])
def test_without_a_word_the_system_sees_to_them(given: dict[str, str]) -> None:
    async def compare() -> None:
        with socket.socket() as plain:
            usual = plain.getsockopt(*RECEIVE)
        receive, _ = await sizes_with(given)
        assert receive >= usual

    asyncio.run(compare())
