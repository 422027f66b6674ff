"""A host as the network knows it: its address, its ports, and its ends of connections."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from odradek.simulation.network.sockets import Socket

EPHEMERAL_PORTS = range(32_768, 61_000)

Backlog = Callable[["Socket"], None]  # Takes a connection that the kernel has accepted.


class Interface:
    """One host's place in the network. Power off takes it down; a killed process does not."""

    def __init__(self, name: str, address: str) -> None:
        self.name = name
        self.address = address
        self.is_up = True
        self.bound: dict[int, None] = {}
        self.listeners: dict[int, Backlog] = {}
        self.sockets: dict[Socket, None] = {}
        self._next_port = EPHEMERAL_PORTS.start

    def bind(self, port: int) -> int:
        """Reserve this port, or a free one for port 0."""
        port = port or self.free_port()
        if port in self.bound:
            where = f"('{self.address}', {port})"
            reason = f"error while attempting to bind on address {where}: address already in use"
            raise OSError(errno.EADDRINUSE, reason)
        self.bound[port] = None
        return port

    def unbind(self, port: int) -> None:
        self.bound.pop(port, None)
        self.listeners.pop(port, None)

    def free_port(self) -> int:
        """The next port that nobody has bound."""
        while True:
            port = self._next_port
            following = port + 1 - EPHEMERAL_PORTS.start
            self._next_port = EPHEMERAL_PORTS.start + following % len(EPHEMERAL_PORTS)
            if port not in self.bound:
                return port

    def close(self) -> None:
        """The process died: the kernel closes what it had open, and the peers hear of it."""
        self._forget_ports()
        for socket in list(self.sockets):
            socket.close()

    def vanish(self) -> None:
        """The power went: nobody says goodbye."""
        self.is_up = False
        self._forget_ports()
        for socket in list(self.sockets):
            socket.vanish()

    def _forget_ports(self) -> None:
        self.bound.clear()
        self.listeners.clear()
