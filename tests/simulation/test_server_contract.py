"""What asyncio promises of servers and streams, asked of real ones and of simulated ones alike."""

from __future__ import annotations

import asyncio
import errno
from typing import Any

import pytest

from tests.simulation import echo
from tests.simulation.loops import on_asyncio, on_every_loop, on_loops, on_simulation
from tests.simulation.recorder import Recorder, port_of

QUESTIONS = [bytes([number]) * (1 + number * number * 100) for number in range(40)]


@on_every_loop
async def test_an_echo_server_and_its_client_run_unchanged() -> None:
    server = await echo.serve("127.0.0.1")
    client = await echo.connect("127.0.0.1", port_of(server))
    assert await client.ask(*QUESTIONS) == QUESTIONS
    client.close()
    server.close()
    await server.wait_closed()


@on_every_loop
async def test_streams_run_unchanged() -> None:
    server = await echo.stream_serve("127.0.0.1")
    asked = [echo.stream_ask("127.0.0.1", port_of(server), question) for question in QUESTIONS]
    assert await asyncio.gather(*asked) == QUESTIONS
    server.close()
    await server.wait_closed()


@on_every_loop
async def test_nobody_listening_means_refused() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Recorder, "127.0.0.1", 0)
    port = port_of(server)
    server.close()
    await server.wait_closed()
    with pytest.raises(ConnectionRefusedError):
        await loop.create_connection(Recorder, "127.0.0.1", port)


@on_every_loop
async def test_a_port_is_taken_once() -> None:
    loop = asyncio.get_running_loop()
    async with await loop.create_server(Recorder, "127.0.0.1", 0) as server:
        with pytest.raises(OSError, match="in use") as caught:
            await loop.create_server(Recorder, "127.0.0.1", port_of(server))
        assert caught.value.errno == errno.EADDRINUSE


@on_every_loop
async def test_two_servers_have_two_ports() -> None:
    loop = asyncio.get_running_loop()
    one = await loop.create_server(Recorder, "127.0.0.1", 0)
    other = await loop.create_server(Recorder, "127.0.0.1", 0)
    assert port_of(one) != port_of(other)
    for server in (one, other):
        server.close()
        await server.wait_closed()


@on_every_loop
async def test_a_closed_port_can_be_taken_again() -> None:
    loop = asyncio.get_running_loop()
    first = await loop.create_server(Recorder, "127.0.0.1", 0)
    port = port_of(first)
    first.close()
    await first.wait_closed()
    second = await loop.create_server(Recorder, "127.0.0.1", port)
    assert port_of(second) == port
    second.close()
    await second.wait_closed()


@on_every_loop
async def test_a_server_says_whether_it_serves() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Recorder, "127.0.0.1", 0, start_serving=False)
    port = port_of(server)
    assert not server.is_serving()
    with pytest.raises(ConnectionRefusedError):
        await loop.create_connection(Recorder, "127.0.0.1", port)
    await server.start_serving()
    assert server.is_serving()
    assert server.get_loop() is loop
    transport, _ = await loop.create_connection(Recorder, "127.0.0.1", port)
    transport.abort()
    server.close()
    assert not server.is_serving()
    assert list(server.sockets) == []
    await server.wait_closed()


@on_every_loop
async def test_a_closed_server_leaves_its_connections_open() -> None:
    loop = asyncio.get_running_loop()
    far = Recorder()
    server = await loop.create_server(lambda: far, "127.0.0.1", 0)
    _, near = await loop.create_connection(Recorder, "127.0.0.1", port_of(server))
    await far.until_called("made")
    server.close()
    near.transport.write(b"still there?")
    await far.until_data(b"still there?")
    near.transport.close()
    await far.until_called("lost")
    await server.wait_closed()


@on_every_loop
async def test_serving_forever_ends_when_cancelled() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Recorder, "127.0.0.1", 0)
    forever = asyncio.create_task(server.serve_forever())
    await asyncio.sleep(0)
    forever.cancel()
    with pytest.raises(asyncio.CancelledError):
        await forever
    assert not server.is_serving()


@on_every_loop
async def test_an_unknown_host_is_no_host() -> None:
    loop = asyncio.get_running_loop()
    with pytest.raises(OSError, match="not known"):
        await loop.create_connection(Recorder, "no.such.host.invalid", 1)


# uvloop cannot be asked without a port of its own kind of address.
@on_loops(on_asyncio, on_simulation)
async def test_names_are_found() -> None:
    loop = asyncio.get_running_loop()
    found: Any = await loop.getaddrinfo("127.0.0.1", 80, type=1)
    assert found[0][4] == ("127.0.0.1", 80)
