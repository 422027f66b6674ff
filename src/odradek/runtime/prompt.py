"""Small things are sent at once.

uvloop gathers what is written and sends it when its turn is over, for much may be written in one.
But where somebody waits for this very answer, the rest of the turn is time that is lost to them.
So if nothing of the connection is on its way, the bytes go to its socket directly; what the socket
does not take, and all that goes wrong, is left to the transport. Other transports, as the simulated
ones, have no socket, or send at once themselves.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from functools import partial

Write = Callable[[bytes], None]


def prompt_write(transport: asyncio.Transport) -> Write:
    """As `transport.write`, but at once if that can be."""
    socket = transport.get_extra_info("socket")
    return transport.write if socket is None else partial(_write, transport, socket.fileno())


def _write(transport: asyncio.Transport, descriptor: int, data: bytes) -> None:
    if transport.get_write_buffer_size() or transport.is_closing():
        transport.write(data)
        return
    try:
        sent = os.write(descriptor, data)
    except OSError:
        sent = 0  # It is full, or gone: the transport finds out.
    if sent < len(data):
        transport.write(data[sent:])
