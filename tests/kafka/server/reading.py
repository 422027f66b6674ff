"""A simulated reader of what is committed: it leaves out what was aborted, as consumers do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence

from odradek.kafka.wire.batch import Batch, read_batches
from odradek.kafka.wire.control import MarkerType, read_marker
from odradek.kafka.wire.messages.fetch import PartitionData
from odradek.kafka.wire.records import read_records
from odradek.simulation.processes import Environment
from tests.kafka.server.conversing import Client

READ_COMMITTED = 1
Values = list[bytes | None]


class CommittedReader:
    """Reads a partition on and on; now and then it begins again, and must see the same."""

    def __init__(
        self, ids: Sequence[int], topic: str, partition: int, check: Callable[[Values], None]
    ) -> None:
        self.ids = ids
        self.seen: Values = []
        self._topic = topic
        self._partition = partition
        self._check = check

    async def run(self, environment: Environment) -> None:
        while True:
            await self._read_from_the_start(environment)

    async def _read_from_the_start(self, environment: Environment) -> None:
        client = Client(self.ids, "reader")
        values: Values = []
        offset = 0
        while environment.random.random() > 0.01:
            data = await client.fetch(
                self._topic, self._partition, offset, isolation_level=READ_COMMITTED
            )
            if data is not None:
                fresh, offset = committed(data, offset)
                values += fresh
                self._check(values)
                if len(values) > len(self.seen):
                    self.seen = values.copy()
                assert values == self.seen[: len(values)]
            await asyncio.sleep(0.05)


def committed(data: PartitionData, offset: int) -> tuple[Values, int]:
    """What was committed from an offset on, and the offset after it."""
    values: Values = []
    for batch in live_batches(data):
        values += (it.value for it in read_records(batch) if it.offset >= offset)
    ends = [it.last_offset + 1 for it in read_batches(memoryview(data.records or b""))]
    return values, max(ends, default=offset)


def live_batches(data: PartitionData) -> Iterator[Batch]:
    """The batches that are neither markers nor aborted."""
    aborted = sorted(data.aborted_transactions or [], key=lambda it: it.first_offset)
    open_ids: set[int] = set()  # Producers whose batches are aborted, until their marker comes.
    for batch in read_batches(memoryview(data.records or b"")):
        while aborted and aborted[0].first_offset <= batch.last_offset:
            open_ids.add(aborted.pop(0).producer_id)
        if batch.is_control:
            marker = read_marker(batch)
            if marker is not None and marker.type is MarkerType.ABORT:
                open_ids.discard(batch.producer_id)
        elif not (batch.is_transactional and batch.producer_id in open_ids):
            yield batch
