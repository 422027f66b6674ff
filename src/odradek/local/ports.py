"""Ports of loopback: as asked, as last time, or free.

A port that was asked for must be free; one that was only preferred gives way to another. Ports that
are handed out together are distinct, for all are held until the last is found. Free ones are sought
below those that systems give to outgoing connections: one of these could have the port before its
server does, or when a server that was killed wants it back.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import ExitStack
from random import SystemRandom

from odradek.local.errors import PortTaken

HOST = "127.0.0.1"
PORT_MAX = 65_535
FREE = (10_000, 15_000)
TRIES = 100


def hold(stack: ExitStack, port: int) -> int | None:
    """Bind a port until the stack is left (0: any that is free); None if it is taken."""
    probe = stack.enter_context(socket.socket())
    # As servers do it: a port whose last connections are still going is free.
    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        probe.bind((HOST, port))
        probe.listen(1)
    except OSError:
        return None
    found: int = probe.getsockname()[1]
    return found


def asked_port(port: int) -> int:
    """The port, if nobody has it; `PortTaken` if somebody does."""
    with ExitStack() as stack:
        if hold(stack, port) is None:
            raise PortTaken(port)
    return port


def free_ports(count: int, preferred: Sequence[int] = ()) -> list[int]:
    """As many ports as wanted: the preferred ones in their places, others where they are taken."""
    wanted = [*preferred, *[0] * count][:count]
    with ExitStack() as stack:
        return [_held(stack, port) for port in wanted]


def _held(stack: ExitStack, port: int) -> int:
    found = hold(stack, port) if port else None
    for _ in range(TRIES):
        found = found or hold(stack, SystemRandom().randrange(*FREE))
    found = found or hold(stack, 0)
    assert found is not None, "no port of loopback is free"
    return found
