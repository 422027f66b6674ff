"""Sockets: the kernel's ends of a connection.

They know nothing of asyncio. A socket outlives the interest of its process: what comes for a
closed one is answered with a reset, and so is what comes for one that was lost with the power.
"""

from __future__ import annotations

import errno
import os
from collections import deque
from typing import Protocol

from odradek.simulation.network.interfaces import Interface
from odradek.simulation.network.links import Link
from odradek.simulation.network.pipes import Mark, Pipe, Segment

Address = tuple[str, int]


class Watcher(Protocol):
    """Whoever wants to hear what happens to a socket."""

    def readable(self) -> None: ...

    def writable(self) -> None: ...


class Socket:
    """One end of a connection."""

    __slots__ = (
        "_inbox",
        "_is_ended",
        "_is_finished",
        "error",
        "interface",
        "is_closed",
        "is_open",
        "name",
        "out",
        "peer",
        "watcher",
    )

    peer: Socket
    out: Pipe

    def __init__(self, interface: Interface, name: Address) -> None:
        self.interface = interface
        self.name = name
        self.watcher: Watcher | None = None
        self.error: OSError | None = None
        self.is_open = False
        self.is_closed = False
        self._inbox: deque[bytes] = deque()
        self._is_ended = False  # The peer will send no more.
        self._is_finished = False  # We will send no more.

    @property
    def label(self) -> str:
        return f"{self.interface.name}:{self.name[1]}"

    @property
    def is_readable(self) -> bool:
        """Whether `receive` would return or raise."""
        return bool(self._inbox) or self._is_ended or self.error is not None

    @property
    def is_at_end(self) -> bool:
        return self._is_ended and not self._inbox

    def send(self, data: bytes | memoryview) -> int:
        """Take as many of these bytes as there is room for."""
        if self.error is not None:
            raise self.error
        room = self.out.room_bytes
        taken = bytes(data if len(data) <= room else data[:room])
        if taken:
            self.out.send(taken)
        if len(taken) < len(data):
            self.out.is_wanted = True
        return len(taken)

    def receive(self, count: int) -> bytes:
        """Up to so many bytes of a readable socket; none at the end."""
        inbox = self._inbox
        if not inbox:
            if self.error is not None:
                raise self.error
            return b""
        data = inbox.popleft() if len(inbox) == 1 else self._drain()
        if len(data) > count:
            inbox.appendleft(data[count:])
            data = data[:count]
        self.peer.out.taken(len(data))
        return data

    def finish(self) -> None:
        """Send no more; receive on."""
        if not self._is_finished:
            self._is_finished = True
            self.out.send_mark(Mark.END)

    def close(self) -> None:
        """Be done with it. Whoever closes without having read all resets, as Linux does."""
        if self.is_closed:
            return
        self._leave()
        if self.is_open and self.error is None:
            if self._inbox:
                self.out.send_mark(Mark.RESET)
            else:
                self.finish()

    def vanish(self) -> None:
        """Be forgotten in a loss of power."""
        self._leave()
        self.out.forget()

    def fail(self, error: OSError) -> None:
        """Break, on this side alone."""
        if self.is_closed or self.error is not None:
            return
        self.error = error
        self.out.forget()
        if self.watcher is None and not self.is_open:
            self._leave()  # It never became anybody's.
        self.readable()
        self.writable()

    def arrived(self, segment: Segment) -> None:
        """Take what the network brings."""
        if self.is_closed:
            self._answer_for_the_dead(segment)
        elif isinstance(segment, bytes):
            self._inbox.append(segment)
            self.readable()
        elif segment is Mark.END:
            self._is_ended = True
            self.readable()
        elif segment is Mark.RESET:
            self.fail(self._reset_error())
        else:
            self._open(segment)

    def readable(self) -> None:
        if self.watcher is not None:
            self.watcher.readable()

    def writable(self) -> None:
        if self.watcher is not None:
            self.watcher.writable()

    def _open(self, mark: Mark) -> None:
        """Shake hands. A process hears of a connection when the third packet is there."""
        if mark is Mark.OPENED:
            self.is_open = True
            self.out.send_mark(Mark.GREETED)
            self.writable()
            return
        backlog = self.interface.listeners.get(self.name[1])
        if backlog is None:
            self._leave()
            self.out.send_mark(Mark.RESET)
        elif mark is Mark.OPENING:
            self.interface.sockets[self] = None
            self.out.send_mark(Mark.OPENED)
        else:
            self.is_open = True
            backlog(self)

    def _answer_for_the_dead(self, segment: Segment) -> None:
        if segment is not Mark.END and segment is not Mark.RESET:
            self.out.send_mark(Mark.RESET)

    def _reset_error(self) -> OSError:
        if self.is_open:
            return ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
        return ConnectionRefusedError(errno.ECONNREFUSED, f"Connect call failed {self.peer.name}")

    def _leave(self) -> None:
        self.is_closed = True
        self.interface.sockets.pop(self, None)

    def _drain(self) -> bytes:
        data = b"".join(self._inbox)
        self._inbox.clear()
        return data


def socket_pair(
    ends: tuple[Interface, Interface], names: tuple[Address, Address], links: tuple[Link, Link]
) -> Socket:
    """A connection that is to be opened; the end of whoever opens it, which knows the other."""
    near, far = Socket(ends[0], names[0]), Socket(ends[1], names[1])
    near.peer, far.peer = far, near
    there, back = links
    near.out = Pipe(there, back, near, far)
    far.out = Pipe(back, there, far, near)
    near.interface.sockets[near] = None
    return near
