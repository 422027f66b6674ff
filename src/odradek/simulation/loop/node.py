"""The loop of one simulated node: what asyncio code finds when it asks for the running loop.

Sockets lead into the simulated network, threads take virtual time, the clocks are the host's.
What cannot be simulated is refused: no real descriptor, thread or address is ever touched.
"""

from __future__ import annotations

import asyncio
import socket as resolver
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from odradek.simulation.loop.threads import Threads
from odradek.simulation.loop.virtual import Arguments, VirtualLoop
from odradek.simulation.network.server import SimulatedServer
from odradek.simulation.network.transport import SimulatedTransport

if TYPE_CHECKING:
    from odradek.simulation.hosts import Host

AnyProtocol = TypeVar("AnyProtocol", bound=asyncio.BaseProtocol)
TCP = (resolver.AF_INET, resolver.SOCK_STREAM, resolver.IPPROTO_TCP)


class NodeLoop(VirtualLoop):
    """A loop with a network, threads and signals.

    An error that nobody handles goes to `on_failure`: in a simulation nobody reads logs.
    """

    def __init__(
        self, host: Host, random: Random, on_failure: Callable[[dict[str, Any]], None]
    ) -> None:
        super().__init__(host.name, host.schedule, host.clock, host.trace)
        self.threads = Threads(self, host.schedule, random)
        self._network = host.network
        self._interface = host.interface
        self._on_failure = on_failure
        self._signal_handlers: dict[int, Callable[[], object]] = {}

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        self._on_failure(context)

    async def create_connection(
        self,
        protocol_factory: Callable[[], AnyProtocol],
        host: str | None = None,
        port: int | None = None,
        *,
        ssl: object = None,
        sock: object = None,
        **options: object,
    ) -> tuple[SimulatedTransport, AnyProtocol]:
        refuse(ssl or sock)
        assert port is not None
        socket = await self._network.connect(self, self._interface, host, port)
        protocol = protocol_factory()
        transport = SimulatedTransport(self, socket, protocol)
        # `connection_made` is queued. Nobody gets the transport before it was called.
        await asyncio.sleep(0)
        return transport, protocol

    async def create_server(  # type: ignore[override]
        self,
        protocol_factory: Callable[[], asyncio.BaseProtocol],
        host: str | Sequence[str] | None = None,
        port: int | None = None,
        *,
        ssl: object = None,
        sock: object = None,
        start_serving: bool = True,
        **options: object,
    ) -> SimulatedServer:
        refuse(ssl or sock)
        first = host if isinstance(host, str) or not host else host[0]
        address = self._network.own_address(self._interface, str(first or ""))
        server = SimulatedServer(self, self._interface, (address, port or 0), protocol_factory)
        if start_serving:
            await server.start_serving()
        return server

    async def getaddrinfo(
        self,
        host: bytes | str | None,
        port: bytes | str | int | None,
        **options: int,
    ) -> list[Any]:
        name = host.decode() if isinstance(host, bytes) else host
        _, address = self._network.resolve(self._interface, name)
        return [(*TCP, "", (address, int(port or 0)))]

    async def getnameinfo(self, sockaddr: Any, flags: int = 0) -> tuple[str, str]:
        found, _ = self._network.resolve(self._interface, sockaddr[0])
        return found.name, str(sockaddr[1])

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*Arguments], Any], *args: *Arguments
    ) -> asyncio.Future[Any]:
        return self.threads.submit(executor, partial(func, *args))

    def add_signal_handler(
        self, sig: int, callback: Callable[[*Arguments], Any], *args: *Arguments
    ) -> None:
        self._signal_handlers[sig] = partial(callback, *args)

    def remove_signal_handler(self, sig: int) -> bool:
        return self._signal_handlers.pop(sig, None) is not None

    def signal(self, number: int) -> bool:
        """Deliver a signal; False if the process does not handle it, and so dies of it."""
        handler = self._signal_handlers.get(number)
        if handler is not None:
            self.call_soon(handler)
        return handler is not None

    def run_forever(self) -> NoReturn:
        raise RuntimeError("a simulated node is run by its world")

    def run_until_complete(self, future: object) -> NoReturn:
        self.run_forever()

    def stop(self) -> NoReturn:
        self.run_forever()

    def set_task_factory(self, factory: object) -> NoReturn:
        raise NotImplementedError("a simulated node makes its own tasks")

    async def create_datagram_endpoint(self, *args: object, **options: object) -> NoReturn:
        raise NotImplementedError("the simulated network speaks TCP alone")


def refuse(wish: object) -> None:
    if wish:
        raise NotImplementedError("the simulated network knows neither TLS nor real sockets")
