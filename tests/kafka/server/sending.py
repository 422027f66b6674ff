"""A simulated producer, idempotent: it repeats what was not answered until it is.

What it sent, or is about to send, is in `sent`, by partition and in order: nobody ever reads
anything else, and in the end a log holds that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from random import Random

from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from odradek.kafka.wire.records import Record
from odradek.simulation.processes import Environment
from tests.kafka.broker.asking import records_of
from tests.kafka.server.conversing import Client
from tests.kafka.server.witness import Violation

Values = list[bytes | None]


class Sender:
    """Sends so many batches to the partitions of a topic, which it creates."""

    def __init__(
        self, ids: Sequence[int], topic: str, partitions: int, batches: int, pause_s: float = 0.2
    ) -> None:
        self.ids = ids
        self.topic = topic
        self.sent: list[list[bytes]] = [[] for _ in range(partitions)]
        self.batches = batches
        self.acked = 0
        self._pause_s = pause_s

    async def run(self, environment: Environment) -> None:
        client, random = Client(self.ids, "sender"), environment.random
        await client.create_topic(self.topic, len(self.sent))
        producer_id = await new_producer_id(client)
        for number in range(self.batches):
            await self._send(client, number, producer_id, random)
            await asyncio.sleep(random.uniform(0, self._pause_s))

    async def _send(self, client: Client, number: int, producer_id: int, random: Random) -> None:
        partition = random.randrange(len(self.sent))
        count, size = random.randrange(1, 4), random.randrange(1, 100)
        values = [b"%d.%d." % (number, it) + b"x" * size for it in range(count)]
        wanted = len(self.sent[partition])
        envelope = Envelope(producer_id=producer_id, producer_epoch=0, base_sequence=wanted)
        self.sent[partition] += values  # Others may read it before we hear that it is committed.
        offset = await self._produce(client, partition, values, envelope)
        if offset != wanted:
            raise Violation(f"{partition}: sent to {wanted}, kept at {offset}")
        self.acked += 1

    async def _produce(
        self, client: Client, partition: int, values: list[bytes], envelope: Envelope
    ) -> int:
        records = [Record(number, 1000, b"k", value) for number, value in enumerate(values)]
        batch = bytes(write_batch(records, envelope))
        what = self.topic, partition
        while True:
            answer = await client.produce_once(self.topic, partition, batch)
            if answer is None:
                continue
            # One that was deposed and has not heard of it yet may lack what others have.
            if answer.error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
                await client.turn_away(what)
            elif not await client.settle(what, answer.error_code):
                return answer.base_offset


async def new_producer_id(client: Client) -> int:
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
    while True:
        answer = await client.ask("anything", request, 4, InitProducerIdResponse)
        if not await client.settle("anything", answer.error_code):
            return answer.producer_id


async def read_all(ids: Sequence[int], topic: str, partition: int, count: int) -> Values:
    """The first values of a partition, and whatever is behind them."""
    client = Client(ids, "judge")
    values: Values = []
    empty = 0
    while len(values) < count or empty < 3:
        data = await client.fetch(topic, partition, len(values))
        if data is not None:
            found = [it for it in records_of(data) if it.offset >= len(values)]
            assert [it.offset for it in found] == list(range(len(values), len(values) + len(found)))
            values += (it.value for it in found)
            empty = 0 if found else empty + 1
    return values
