"""The network: hosts by name and address, the links between them, and how connections open."""

from __future__ import annotations

import asyncio
import errno
import os
import socket as resolver

from odradek.simulation.network.interfaces import Interface
from odradek.simulation.network.links import Conditions, Link
from odradek.simulation.network.pipes import Mark
from odradek.simulation.network.sockets import Socket, socket_pair
from odradek.simulation.schedule import SECOND_NS

LOOPBACK = "127.0.0.1"
ANY_ADDRESS = "0.0.0.0"
ANYWHERE = (None, "", ANY_ADDRESS, "::")
THIS_HOST = (*ANYWHERE, LOOPBACK, "::1", "localhost")


class Network:
    """All hosts and links of a world."""

    def __init__(self, conditions: Conditions) -> None:
        self.conditions = conditions
        self._count = 0
        self._interfaces: dict[str, Interface] = {}  # By name, and by address too.
        self._links: dict[tuple[str, str], Link] = {}

    def attach(self, name: str) -> Interface:
        """Give a new host its place and its address: the first is 10.0.0.1."""
        assert name not in self._interfaces, f"there is a host {name} already"
        self._count = number = self._count + 1
        interface = Interface(name, f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
        self._interfaces[name] = self._interfaces[interface.address] = interface
        return interface

    def link(self, source: str, target: str) -> Link:
        """The way from one host to another."""
        if (source, target) not in self._links:
            self._links[source, target] = self._make_link(source, target)
        return self._links[source, target]

    def cut(self, source: str, target: str) -> None:
        """Let nothing from the source arrive at the target any more."""
        assert source != target, "a host cannot be cut off from itself"
        self.link(source, target).is_cut = True
        self.conditions.trace.note(f"cut {source} > {target}")

    def heal(self, source: str, target: str) -> None:
        link = self.link(source, target)
        if link.is_cut:
            self.conditions.trace.note(f"heal {source} > {target}")
            link.is_cut = False
            link.revive()

    def heal_all(self) -> None:
        for source, target in list(self._links):
            self.heal(source, target)

    def reset(self, one: str, other: str) -> None:
        """Break all connections between two hosts, as a firewall may do."""
        self.conditions.trace.note(f"reset {one} = {other}")
        far_end = self._interfaces[other]
        for socket in list(self._interfaces[one].sockets):
            if socket.peer.interface is far_end:
                socket.arrived(Mark.RESET)
                socket.peer.arrived(Mark.RESET)

    def power_on(self, interface: Interface) -> None:
        """Let a host be reached again."""
        interface.is_up = True
        for link in list(self._links.values()):
            if link.target is interface:
                link.revive()

    def resolve(self, near: Interface, host: str | None) -> tuple[Interface, str]:
        """The host of this name or address, as seen from another, and the address it has there."""
        if host in THIS_HOST:
            return near, LOOPBACK
        if host not in self._interfaces:
            raise resolver.gaierror(resolver.EAI_NONAME, "Name or service not known")
        found = self._interfaces[host]
        return found, found.address

    def own_address(self, near: Interface, host: str | None) -> str:
        """Where a host listens that is asked to do so under this name or address of its own."""
        found, address = self.resolve(near, host)
        if found is not near:
            raise OSError(errno.EADDRNOTAVAIL, os.strerror(errno.EADDRNOTAVAIL))
        return ANY_ADDRESS if host in ANYWHERE else address

    async def connect(
        self, loop: asyncio.AbstractEventLoop, near: Interface, host: str | None, port: int
    ) -> Socket:
        """Open a connection; the near end of it, once the far end has answered."""
        far, address = self.resolve(near, host)
        own_address = LOOPBACK if address == LOOPBACK else near.address
        links = self.link(near.name, far.name), self.link(far.name, near.name)
        names = (own_address, near.free_port()), (address, port)
        socket = socket_pair((near, far), names, links)
        opened: asyncio.Future[None] = loop.create_future()
        socket.watcher = Opening(socket, opened)
        socket.out.send_mark(Mark.OPENING)
        try:
            await opened
        except BaseException:
            socket.close()
            raise
        return socket

    def _make_link(self, source: str, target: str) -> Link:
        is_loopback = source == target
        conditions = self.conditions
        latency_s = conditions.loopback_latency_s if is_loopback else conditions.latency_s
        jitter_s = 0.0 if is_loopback else conditions.jitter_s
        return Link(
            self._interfaces[source],
            self._interfaces[target],
            conditions,
            int(latency_s * SECOND_NS),
            int(jitter_s * SECOND_NS),
        )


class Opening:
    """Watches a socket until it is open or never will be."""

    def __init__(self, socket: Socket, opened: asyncio.Future[None]) -> None:
        self._socket = socket
        self._opened = opened

    def readable(self) -> None:
        if self._socket.error is not None and not self._opened.done():
            self._opened.set_exception(self._socket.error)

    def writable(self) -> None:
        if self._socket.is_open and not self._opened.done():
            self._opened.set_result(None)
