"""The state of a client, and who wants to hear of it.

    CLOSED ──connect──► SUSPENDED ◄──► CONNECTED, CONNECTED_READ_ONLY
      ▲                     │
      └──── close ──── LOST, AUTH_FAILED ──connect──► SUSPENDED

Listeners are called by the loop, in the order of the changes, as watchers are in the order of the
events: whoever hears of both hears of them in the order in which they came.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from enum import Enum


class State(Enum):
    """Whether there is a connection, and if not, what that means for the session."""

    CLOSED = "closed"  # No session: not connected yet, or closed by ourselves.
    SUSPENDED = "suspended"  # No connection now; the session may well be alive.
    CONNECTED = "connected"
    CONNECTED_READ_ONLY = "connected read-only"  # To a server that is cut off from the others.
    LOST = "lost"  # A server said that the session has expired.
    AUTH_FAILED = "authentication failed"

    @property
    def is_connected(self) -> bool:
        return self in (State.CONNECTED, State.CONNECTED_READ_ONLY)


Listener = Callable[[State], object]


class States:
    """The current state; what waits for another, and what hears of all."""

    def __init__(self) -> None:
        self.current = State.CLOSED
        self._listeners: dict[Listener, None] = {}
        self._waiters: list[tuple[tuple[State, ...], asyncio.Future[State]]] = []

    def listen(self, listener: Listener) -> None:
        self._listeners[listener] = None

    def unlisten(self, listener: Listener) -> None:
        self._listeners.pop(listener, None)

    def become(self, state: State) -> None:
        """Change the state and let everybody know, unless it is the current one."""
        if state is self.current:
            return
        self.current = state
        loop = asyncio.get_running_loop()
        for listener in self._listeners:
            loop.call_soon(listener, state)
        for wanted, waiter in self._waiters:
            if state in wanted and not waiter.done():
                waiter.set_result(state)
        self._waiters = [entry for entry in self._waiters if not entry[1].done()]

    async def until(self, *wanted: State) -> State:
        """Wait for one of these states; return the one that came, or the current one at once."""
        if self.current in wanted:
            return self.current
        waiter: asyncio.Future[State] = asyncio.get_running_loop().create_future()
        self._waiters.append((wanted, waiter))
        return await waiter
