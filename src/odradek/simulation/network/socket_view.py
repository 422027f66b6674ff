"""What a transport or a server shows as its socket: it can be asked and set, to no effect."""

from __future__ import annotations

import socket
from dataclasses import dataclass

from odradek.simulation.network.sockets import Address


@dataclass(frozen=True, slots=True)
class SocketView:
    """The addresses of a socket, with the manners of a real one."""

    name: Address
    peer_name: Address | None = None
    family: socket.AddressFamily = socket.AF_INET
    type: socket.SocketKind = socket.SOCK_STREAM
    proto: int = socket.IPPROTO_TCP

    def getsockname(self) -> Address:
        return self.name

    def getpeername(self) -> Address | None:
        return self.peer_name

    def setsockopt(self, level: int, option: int, value: int | bytes) -> None:
        """Options change nothing here: no packet waits for another."""

    def getsockopt(self, level: int, option: int) -> int:
        return 0

    def fileno(self) -> int:
        return -1
