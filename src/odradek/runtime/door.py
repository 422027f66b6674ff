"""A port that is open before anyone serves it: who comes early waits there and is not refused.

Whoever is refused comes again when its own patience says so, which is later than the server is up.
"""

from __future__ import annotations

import socket
from contextlib import ExitStack

Door = list[socket.socket]  # One for each kind of address.


def open_door(host: str, port: int, backlog: int) -> Door:
    """Listen on all addresses of a host, or of this machine if none is named."""
    with ExitStack() as opened:
        door: Door = []
        found = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        for family, kind, protocol, _, address in dict.fromkeys(found):  # Some come twice.
            try:
                listening = opened.enter_context(socket.socket(family, kind, protocol))
            except OSError:
                continue  # The system knows this kind of address, and cannot use it.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            try:
                listening.bind(address)
            except OSError as error:
                raise OSError(
                    error.errno, f"cannot listen on {address[0]}:{port}: {error.strerror}"
                ) from None
            listening.listen(backlog)
            door.append(listening)
        opened.pop_all()
        return door
