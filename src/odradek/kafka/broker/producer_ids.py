"""Producer ids for this broker's clients, out of blocks that the controller gives.

The next block is asked for before the last is used up. As long as there is none, which is seldom
more than a moment at the very start, a client waits a little, and is then told to try again.
"""

from __future__ import annotations

import asyncio

from odradek.kafka.broker.channel import ControllerChannel
from odradek.kafka.broker.keeper import Keeper
from odradek.kafka.broker.peers import PeerLost
from odradek.kafka.coordinator import producer_ids as core
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from odradek.runtime.clock import loop_ms
from odradek.runtime.logs import NodeLog
from odradek.runtime.tasks import Tasks


class ProducerIds:
    """The ids that are left here."""

    def __init__(
        self,
        broker_id: int,
        keeper: Keeper,
        channel: ControllerChannel,
        tasks: Tasks,
        note: NodeLog,
    ) -> None:
        self._broker_id = broker_id
        self._keeper = keeper
        self._channel = channel
        self._tasks = tasks
        self._note = note
        self._ids = core.ProducerIds()
        self._waiting: list[asyncio.Future[None]] = []

    def take(self) -> int | None:
        """A new id; None if there is none yet."""
        taken = self._ids.take()
        self.prefetch()
        return taken

    async def until_there(self, timeout_s: float) -> None:
        """Wait until there are ids, or for so long."""
        self.prefetch()
        if self._ids.has_any:
            return
        loop = asyncio.get_running_loop()
        there: asyncio.Future[None] = loop.create_future()
        timer = loop.call_later(timeout_s, settle, there)
        self._waiting.append(there)
        try:
            await there
        finally:
            timer.cancel()
            self._waiting.remove(there)

    def prefetch(self) -> None:
        """Ask for a block if one will soon be needed."""
        if self._ids.ask(int(loop_ms())):
            self._tasks.start("producer ids", self._fetch(), may_end=True)

    async def _fetch(self) -> None:
        while not await self._ask():
            await asyncio.sleep(core.RETRY_MS / 1000)

    async def _ask(self) -> bool:
        request = AllocateProducerIdsRequest(
            broker_id=self._broker_id, broker_epoch=self._keeper.epoch
        )
        try:
            answer = await self._channel.ask(request, 0)
        except PeerLost as error:
            self._note.info("no producer ids yet: %s", error)
            return False
        assert isinstance(answer, AllocateProducerIdsResponse)
        if answer.error_code != ErrorCode.NONE:
            self._note.info("no producer ids yet: %s", ErrorCode(answer.error_code).name)
            return False
        block = core.Block(answer.producer_id_start, answer.producer_id_len)
        is_new = self._ids.receive(block, int(loop_ms()))
        self._ids.is_asking = not is_new
        for there in self._waiting:
            settle(there)
        return is_new


def settle(there: asyncio.Future[None]) -> None:
    if not there.done():
        there.set_result(None)
