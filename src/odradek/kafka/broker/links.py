"""The controller's links to brokers, itself among them: orders in a row, each until it is answered.

A broker must hear orders in the sequence in which they were decided, so there is one in flight at a
time; if its answer does not come it is sent again on a new connection, until it does or the broker
is gone. What we order ourselves is handed over in process.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from odradek.kafka.broker.peers import PAUSE_S, Peer, PeerLost
from odradek.kafka.settings.endpoints import Endpoint
from odradek.kafka.wire.schema import Message
from odradek.runtime.logs import NodeLog
from odradek.runtime.tasks import Tasks

Answered = Callable[[Message], object]
Serve = Callable[[Message, int], Awaitable[Message | None]]


class Order(NamedTuple):
    """What a broker is told, and who wants to hear its answer."""

    message: Message
    version: int
    answered: Answered


class Link(ABC):
    """Orders to one broker."""

    def __init__(self) -> None:
        self._orders: asyncio.Queue[Order] = asyncio.Queue()
        self.task: asyncio.Task[None] | None = None

    @property
    def waiting_count(self) -> int:
        return self._orders.qsize()

    def send(self, order: Order) -> None:
        self._orders.put_nowait(order)

    async def run(self) -> None:
        while True:
            order = await self._orders.get()
            answer = await self._ask(order)
            order.answered(answer)

    @abstractmethod
    async def _ask(self, order: Order) -> Message:
        """Have it done; the answer."""


class OwnLink(Link):
    """To ourselves, without a socket."""

    def __init__(self, serve: Serve) -> None:
        super().__init__()
        self._serve = serve

    async def _ask(self, order: Order) -> Message:
        answer = await self._serve(order.message, order.version)
        assert answer is not None
        return answer


class PeerLink(Link):
    """To another broker, through thick and thin."""

    def __init__(self, peer: Peer, note: NodeLog) -> None:
        super().__init__()
        self._peer = peer
        self._note = note

    async def run(self) -> None:
        try:
            await super().run()
        finally:
            self._peer.close()

    async def _ask(self, order: Order) -> Message:
        is_told = False
        while True:
            try:
                return await self._peer.ask(order.message, order.version)
            except PeerLost as error:
                if not is_told:
                    self._note.warning("%s is not heard by its broker yet: %s", name(order), error)
                is_told = True
                await asyncio.sleep(PAUSE_S)


def name(order: Order) -> str:
    return type(order.message).__name__


class Links:
    """One link for each broker there is."""

    def __init__(self, own_id: int, timeout_s: float, tasks: Tasks, note: NodeLog) -> None:
        self.serve_own: Serve | None = None  # Set once there is a broker to serve.
        self._own_id = own_id
        self._timeout_s = timeout_s
        self._tasks = tasks
        self._note = note
        self._links: dict[int, Link] = {}

    def open(self, broker_id: int, endpoint: Endpoint | None) -> None:
        """Link to a broker that is new, or that came back: what it was to hear before is void."""
        self.close(broker_id)
        link: Link
        if broker_id == self._own_id:
            assert self.serve_own is not None
            link = OwnLink(self.serve_own)
        elif endpoint is not None:
            peer = Peer(endpoint, str(self._own_id), self._timeout_s)
            link = PeerLink(peer, self._note.about(f"link to {broker_id}"))
        else:
            self._note.error("broker %s has no listener for other brokers", broker_id)
            return
        link.task = self._tasks.start(f"link to {broker_id}", link.run(), may_end=True)
        self._links[broker_id] = link

    def close(self, broker_id: int) -> None:
        link = self._links.pop(broker_id, None)
        if link is not None and link.task is not None:
            link.task.cancel()

    def close_all(self) -> None:
        for broker_id in list(self._links):
            self.close(broker_id)

    def send(self, broker_id: int, message: Message, version: int, answered: Answered) -> None:
        link = self._links.get(broker_id)
        if link is not None:
            link.send(Order(message, version, answered))
