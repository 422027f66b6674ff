"""Whether another broker's process is there, as the system that it runs on knows.

A broker that is killed is registered until its session ends, seconds later. But its system ends its
connections at once, and refuses new ones. So a connection is held on which nothing is said: when it
ends, and the next one is refused, nobody is there any more; when one is accepted again, somebody
is. A host that is cut off, paused or without power refuses nothing, and then the session decides,
as it does for Kafka.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterable
from typing import cast

from odradek.kafka.settings.endpoints import Endpoint
from odradek.runtime.tasks import Tasks

GRACE_S = 0.5  # Who registers opens its doors only then, so a stranger's may be closed for a while.
PAUSE_S = 0.1
TIMEOUT_S = 10.0

Heard = Callable[[bool], object]  # Whether it is there; told when it changes.


class Sight:
    """What connections and refusals mean. Whoever is watched is thought to be there at first."""

    def __init__(self) -> None:
        self.is_there = True
        self._is_known = False  # Whether its doors have ever been open to us.
        self._refused_since_s: float | None = None

    def accepted(self) -> None:
        self.is_there = self._is_known = True
        self._refused_since_s = None

    def refused(self, now_s: float) -> None:
        if self._refused_since_s is None:
            self._refused_since_s = now_s
        if self._is_known or now_s - self._refused_since_s >= GRACE_S:
            self.is_there = False

    def unanswered(self) -> None:
        """Neither, which tells nothing."""
        self._refused_since_s = None


class Silence(asyncio.Protocol):
    """A connection on which nothing is said."""

    def __init__(self) -> None:
        self._ended = asyncio.Event()

    async def until_ended(self) -> None:
        """Wait until the other side ends it, or until nobody waits any more."""
        try:
            await self._ended.wait()
        finally:
            self.break_off()

    def break_off(self) -> None:
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by descent.

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended.set()


class Vigils:
    """One for each broker that is watched."""

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self._kept: dict[int, asyncio.Task[None]] = {}

    def open(self, broker_id: int, endpoint: Endpoint, heard: Heard) -> None:
        self.close(broker_id)
        name = f"vigil for {broker_id}"
        self._kept[broker_id] = self._tasks.start(name, keep_vigil(endpoint, heard), may_end=True)

    def close(self, broker_id: int) -> None:
        task = self._kept.pop(broker_id, None)
        if task is not None:
            task.cancel()

    def close_all(self) -> None:
        for broker_id in list(self._kept):
            self.close(broker_id)


async def keep_vigil(endpoint: Endpoint, heard: Heard) -> None:
    """Watch a broker for ever, and tell whenever it goes or comes."""
    sight, clock = Sight(), asyncio.get_running_loop().time
    while True:
        was_there, since_s = sight.is_there, clock()
        silence = await look(endpoint, sight)
        if sight.is_there is not was_there:
            heard(sight.is_there)
        if silence is not None:
            await silence.until_ended()
        if silence is None or clock() - since_s < PAUSE_S:
            await asyncio.sleep(PAUSE_S)


async def are_closed(endpoints: Iterable[Endpoint]) -> bool:
    """Whether each of these doors refuses us: behind doors that stay so, nobody lives."""
    for endpoint in endpoints:
        sight = Sight()
        sight.accepted()  # So that one refusal tells.
        silence = await look(endpoint, sight)
        if silence is not None:
            silence.break_off()
        if sight.is_there:
            return False
    return True


async def look(endpoint: Endpoint, sight: Sight) -> Silence | None:
    """Try its addresses, of which most brokers have one: any may accept us, or else refuse."""
    loop = asyncio.get_running_loop()
    is_refused = False
    try:
        async with asyncio.timeout(TIMEOUT_S):
            found = await loop.getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_STREAM)
            for host in dict.fromkeys(str(it[4][0]) for it in found):
                try:
                    _, silence = await loop.create_connection(Silence, host, endpoint.port)
                except ConnectionRefusedError:
                    is_refused = True
                except OSError:
                    continue  # No way to this one.
                else:
                    sight.accepted()
                    return silence
    except (TimeoutError, OSError):
        is_refused = False
    if is_refused:
        sight.refused(loop.time())
    else:
        sight.unanswered()
    return None
