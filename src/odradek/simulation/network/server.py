"""Servers: whoever listens on a port of a simulated host."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import copy_context

from odradek.simulation.network.interfaces import Interface
from odradek.simulation.network.socket_view import SocketView
from odradek.simulation.network.sockets import Address, Socket
from odradek.simulation.network.transport import SimulatedTransport


class SimulatedServer(asyncio.AbstractServer):
    """A bound port, and the connections that came in by it.

    `wait_closed` waits for the last of them too, as asyncio does since 3.12.1.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        interface: Interface,
        address: Address,
        factory: Callable[[], asyncio.BaseProtocol],
    ) -> None:
        self._loop = loop
        self._interface = interface
        self._port = interface.bind(address[1])
        self._address = (address[0], self._port)
        self._factory = factory
        self._context = copy_context()
        self._is_serving = False
        self._is_closed = False
        self._transports: dict[SimulatedTransport, None] = {}
        self._waiters: list[asyncio.Future[None]] = []
        self._forever: asyncio.Future[None] | None = None

    @property
    def sockets(self) -> tuple[SocketView, ...]:
        return () if self._is_closed else (SocketView(self._address),)

    def get_loop(self) -> asyncio.AbstractEventLoop:
        return self._loop

    def is_serving(self) -> bool:
        return self._is_serving

    def listen(self) -> None:
        self._is_serving = True
        self._interface.listeners[self._port] = self._accept_soon

    async def start_serving(self) -> None:
        self.listen()
        await asyncio.sleep(0)

    async def serve_forever(self) -> None:
        if self._forever is not None:
            raise RuntimeError(f"server {self!r} is already being awaited on serve_forever()")
        if self._is_closed:
            raise RuntimeError(f"server {self!r} is closed")
        self.listen()
        self._forever = self._loop.create_future()
        try:
            await self._forever
        finally:
            self._forever = None
            self.close()
            await self.wait_closed()

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._is_serving = False
        self._interface.unbind(self._port)
        if self._forever is not None:
            self._forever.cancel()
        self._wake_waiters()

    async def wait_closed(self) -> None:
        if not self._is_closed or self._transports:
            waiter = self._loop.create_future()
            self._waiters.append(waiter)
            await waiter

    def close_clients(self) -> None:
        for transport in list(self._transports):
            transport.close()

    def abort_clients(self) -> None:
        for transport in list(self._transports):
            transport.abort()

    def detach(self, transport: SimulatedTransport) -> None:
        del self._transports[transport]
        self._wake_waiters()

    def _accept_soon(self, socket: Socket) -> None:
        # The kernel has accepted. The process hears of it at its next turn.
        self._loop.call_soon(self._accept, socket, context=self._context)

    def _accept(self, socket: Socket) -> None:
        if self._is_closed:
            socket.close()
            return
        transport = SimulatedTransport(self._loop, socket, self._factory(), self)
        self._transports[transport] = None

    def _wake_waiters(self) -> None:
        if self._is_closed and not self._transports:
            waiters, self._waiters = self._waiters, []
            for waiter in waiters:
                if not waiter.done():
                    waiter.set_result(None)
