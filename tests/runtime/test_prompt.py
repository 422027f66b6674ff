"""What is written promptly is there at once, in order, and what the socket refuses is not lost."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import cast

import pytest
import uvloop

from odradek.runtime.prompt import prompt_write

LIMIT_S = 20
Story = Callable[[asyncio.Transport, socket.socket], Awaitable[None]]


class Quiet(asyncio.Protocol):
    """Says when it is over."""

    def __init__(self) -> None:
        self.is_lost = asyncio.get_running_loop().create_future()

    def connection_lost(self, error: Exception | None) -> None:
        self.is_lost.set_result(error)


def tell(story: Story, factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
    """With a transport on one end of a pair of sockets, and the other end bare."""

    async def main() -> None:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs:
            loop = asyncio.get_running_loop()
            transport, _ = await loop.create_connection(Quiet, sock=ours)
            async with asyncio.timeout(LIMIT_S):
                await story(transport, theirs)
            transport.abort()

    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(main())


@pytest.fixture(params=[uvloop.new_event_loop, asyncio.new_event_loop], ids=["uvloop", "asyncio"])
def factory(request: pytest.FixtureRequest) -> Callable[[], asyncio.AbstractEventLoop]:
    return cast(Callable[[], asyncio.AbstractEventLoop], request.param)


def test_it_is_there_before_the_loop_goes_on(
    factory: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    async def story(transport: asyncio.Transport, theirs: socket.socket) -> None:
        theirs.setblocking(False)
        prompt_write(transport)(b"now")
        assert theirs.recv(100) == b"now"

    tell(story, factory)


def test_what_was_written_before_comes_before(
    factory: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    async def story(transport: asyncio.Transport, theirs: socket.socket) -> None:
        write = prompt_write(transport)
        transport.write(b"first, ")
        write(b"second, ")
        write(b"third")
        got = b""
        while not got.endswith(b"third"):
            await asyncio.sleep(0)
            theirs.settimeout(LIMIT_S)
            got += theirs.recv(100)
        assert got == b"first, second, third"

    tell(story, factory)


def test_what_the_socket_does_not_take_follows(
    factory: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    async def story(transport: asyncio.Transport, theirs: socket.socket) -> None:
        sent = bytes(range(256)) * 20_000
        write = prompt_write(transport)
        write(sent)
        assert transport.get_write_buffer_size()
        write(b"end")
        theirs.setblocking(False)
        got, loop = bytearray(), asyncio.get_running_loop()
        while len(got) < len(sent) + 3:
            got += await loop.sock_recv(theirs, 1 << 20)
        assert got == sent + b"end"

    tell(story, factory)


def test_who_is_gone_is_noticed_by_the_transport(
    factory: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    async def story(transport: asyncio.Transport, theirs: socket.socket) -> None:
        write = prompt_write(transport)
        theirs.close()
        write(b"anybody?")
        await cast(Quiet, transport.get_protocol()).is_lost
        with suppress(RuntimeError):  # uvloop's transport is beyond being written to.
            write(b"nobody")  # And nothing is written to whoever has the descriptor by now.

    tell(story, factory)


def test_a_transport_without_a_socket_writes_as_it_does() -> None:
    class Simulated(asyncio.Transport):
        def write(self, data: object) -> None: ...

    transport = Simulated()
    assert prompt_write(transport) == transport.write
