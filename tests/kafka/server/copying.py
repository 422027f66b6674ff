"""Simulated copiers: they consume, and produce what they consumed, in one transaction with offsets.

Several processes may have one transactional id: whoever comes last fences the others. A copier
commits, aborts, hangs in the midst of a transaction, or forgets about it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random

from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from odradek.kafka.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from odradek.kafka.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from odradek.kafka.wire.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from odradek.kafka.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from odradek.kafka.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from odradek.kafka.wire.records import Record
from odradek.simulation.processes import Environment
from tests.kafka.broker.asking import records_of
from tests.kafka.server.conversing import GROUP, TRANSACTION, Client
from tests.kafka.server.copy_book import CopyBook, Identity
from tests.kafka.server.witness import Violation

SOURCE, TARGET = "source", "target"
COPIERS_GROUP = "copiers"
TRANSACTIONAL_ID = "copier"
TIMEOUT_MS = 3000
HANG_S = 5.0  # Longer than a transaction may last.
FENCING = (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED)
# What ends a life, and is mended by the next: the coordinator has ended the transaction, or the
# leader of a partition lacks what came before, for it does not know yet that another leads.
ENDING = (
    ErrorCode.INVALID_TXN_STATE,
    ErrorCode.TRANSACTION_ABORTABLE,
    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
)


class Ended(Exception):
    """This life of a copier is over."""


@dataclass(frozen=True, slots=True)
class Temper:
    """How often a copier does not simply commit."""

    abort: float = 0.15
    hang: float = 0.03
    forget: float = 0.05


class Copier:
    """What all lives of a copier have in common."""

    def __init__(
        self,
        ids: Sequence[int],
        book: CopyBook,
        name: str,
        temper: Temper = Temper(),  # noqa: B008
    ) -> None:
        self.ids = ids
        self.book = book
        self.name = name
        self.temper = temper
        self.transactions = 0

    async def run(self, environment: Environment) -> None:
        while True:
            try:
                await CopierLife(self, environment.random).run()
            except Ended as end:
                self.book.counts[str(end)] += 1
            await asyncio.sleep(environment.random.uniform(0.05, 1.0))


class CopierLife(Client):
    """A copier from the moment it fences its predecessors until it is fenced itself."""

    def __init__(self, copier: Copier, random: Random) -> None:
        super().__init__(copier.ids, copier.name)
        self._copier = copier
        self._book = copier.book
        self._random = random
        self._identity: Identity = (-1, -1)
        self._positions: dict[int, int] = {}
        self._sequences: Counter[int] = Counter()  # By partition of the target.
        self._txn = TRANSACTION, TRANSACTIONAL_ID
        self._group = GROUP, COPIERS_GROUP

    async def run(self) -> None:
        await self.find_coordinator(TRANSACTIONAL_ID, TRANSACTION)
        await self.find_coordinator(COPIERS_GROUP, GROUP)
        await self._fence_others()
        for partition in range(len(self._book.sent)):
            self._positions[partition] = await self._committed(partition)
        while True:
            found = await self._read()
            if found:
                await self._copy(found)
            await asyncio.sleep(0.05)

    async def _fence_others(self) -> None:
        request = InitProducerIdRequest(
            transactional_id=TRANSACTIONAL_ID, transaction_timeout_ms=TIMEOUT_MS
        )
        while True:
            answer = await self.ask(self._txn, request, 4, InitProducerIdResponse)
            if not await self._react(self._txn, answer.error_code):
                break
        self._identity = answer.producer_id, answer.producer_epoch
        self._book.given(self._identity)

    async def _committed(self, partition: int) -> int:
        asked = [OffsetFetchRequestTopic(name=SOURCE, partition_indexes=[partition])]
        request = OffsetFetchRequest(
            group_id=COPIERS_GROUP, topics=asked, groups=[], require_stable=True
        )
        while True:
            answer = await self.ask(self._group, request, 7, OffsetFetchResponse)
            if await self._react(self._group, answer.error_code):
                continue
            found = answer.topics[0].partitions[0]
            if not await self._react(self._group, found.error_code):
                return max(0, found.committed_offset)

    async def _read(self) -> dict[int, list[Record]]:
        """A few records that are to be copied, by partition."""
        found = {}
        for partition, position in self._positions.items():
            data = await self.fetch(SOURCE, partition, position, isolation_level=1, bytes_max=200)
            records = [] if data is None else records_of(data)
            if fresh := [it for it in records if it.offset >= position]:
                found[partition] = fresh
        return found

    # A transaction

    async def _copy(self, found: dict[int, list[Record]]) -> None:
        self._copier.transactions += 1
        tag = b"%s.%d" % (self._copier.name.encode(), self._copier.transactions)
        tags = len(self._book.sent)  # The last partition of the target.
        await self._add_partitions([*found, tags])
        for partition, records in found.items():
            await self._produce(partition, [it.value for it in records])
        await self._produce(tags, [tag])
        ends = {partition: records[-1].offset + 1 for partition, records in found.items()}
        await self._add_offsets()
        await self._commit_offsets(ends)
        await self._end(tag, ends)

    async def _end(self, tag: bytes, ends: dict[int, int]) -> None:
        draw, temper = self._random.random(), self._copier.temper
        if draw < temper.forget:
            raise Ended("forgotten")
        draw -= temper.forget
        if draw < temper.hang:
            self._book.counts["hangs"] += 1
            await asyncio.sleep(HANG_S)
        is_commit = draw < temper.hang or draw - temper.hang >= temper.abort
        request = EndTxnRequest(
            transactional_id=TRANSACTIONAL_ID,
            producer_id=self._identity[0],
            producer_epoch=self._identity[1],
            committed=is_commit,
        )
        await self._settle_txn("EndTxn", request, EndTxnResponse)
        self._book.ended(tag, is_commit=is_commit)
        if is_commit:
            self._positions |= ends

    async def _add_partitions(self, partitions: list[int]) -> None:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=TRANSACTIONAL_ID,
            v3_and_below_producer_id=self._identity[0],
            v3_and_below_producer_epoch=self._identity[1],
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=TARGET, partitions=partitions)],
        )

        async def ask() -> int:
            answer = await self.ask(self._txn, request, 3, AddPartitionsToTxnResponse)
            topics = answer.results_by_topic_v3_and_below
            return worst(it.partition_error_code for t in topics for it in t.results_by_partition)

        await self._settle("AddPartitionsToTxn", self._txn, ask)

    async def _produce(self, partition: int, values: list[bytes | None]) -> None:
        envelope = Envelope(
            producer_id=self._identity[0],
            producer_epoch=self._identity[1],
            base_sequence=self._sequences[partition],
            is_transactional=True,
        )
        records = [Record(number, 1000, b"k", value) for number, value in enumerate(values)]
        batch = bytes(write_batch(records, envelope))

        async def ask() -> int:
            while True:
                answer = await self.produce_once(TARGET, partition, batch, TRANSACTIONAL_ID)
                if answer is not None:
                    return answer.error_code

        await self._settle("Produce", (TARGET, partition), ask)
        self._sequences[partition] += len(values)

    async def _add_offsets(self) -> None:
        request = AddOffsetsToTxnRequest(
            transactional_id=TRANSACTIONAL_ID,
            producer_id=self._identity[0],
            producer_epoch=self._identity[1],
            group_id=COPIERS_GROUP,
        )
        await self._settle_txn("AddOffsetsToTxn", request, AddOffsetsToTxnResponse)

    async def _commit_offsets(self, ends: dict[int, int]) -> None:
        committed = [
            TxnOffsetCommitRequestPartition(
                partition_index=partition, committed_offset=offset, committed_metadata=""
            )
            for partition, offset in ends.items()
        ]
        request = TxnOffsetCommitRequest(
            transactional_id=TRANSACTIONAL_ID,
            group_id=COPIERS_GROUP,
            producer_id=self._identity[0],
            producer_epoch=self._identity[1],
            topics=[TxnOffsetCommitRequestTopic(name=SOURCE, partitions=committed)],
        )

        async def ask() -> int:
            answer = await self.ask(self._group, request, 3, TxnOffsetCommitResponse)
            return worst(it.error_code for topic in answer.topics for it in topic.partitions)

        await self._settle("TxnOffsetCommit", self._group, ask)

    # What is made of answers

    async def _settle_txn(
        self,
        what: str,
        request: EndTxnRequest | AddOffsetsToTxnRequest,
        kind: type[EndTxnResponse] | type[AddOffsetsToTxnResponse],
    ) -> None:
        async def ask() -> int:
            return (await self.ask(self._txn, request, 3, kind)).error_code

        await self._settle(what, self._txn, ask)

    async def _settle(self, what: str, whom: object, ask: Callable[[], Awaitable[int]]) -> None:
        """Ask until it is accepted; a life that is over must not be."""
        while True:
            latest = self._book.latest
            code = await ask()
            if not await self._react(whom, code):
                self._book.accepted(what, self._identity, latest)
                return

    async def _react(self, whom: object, code: int) -> bool:
        if code in FENCING:
            raise Ended("fenced")
        if code in ENDING:
            raise Ended(ErrorCode(code).name)
        if code == ErrorCode.NOT_COORDINATOR:
            assert isinstance(whom, tuple)
            await self.find_coordinator(whom[1], whom[0])
            await asyncio.sleep(0.05)
            return True
        if code == ErrorCode.CONCURRENT_TRANSACTIONS:
            await asyncio.sleep(0.05)  # It is the right one, and has not finished.
            return True
        return await self.settle(whom, code)


def worst(codes: Iterable[int]) -> int:
    """The code that counts, of several: OPERATION_NOT_ATTEMPTED only tells of another."""
    found = set(codes)
    others = found - {ErrorCode.NONE, ErrorCode.OPERATION_NOT_ATTEMPTED}
    if not others and found - {ErrorCode.NONE}:
        raise Violation("not attempted, and nobody says why")
    return min(others, default=0)
