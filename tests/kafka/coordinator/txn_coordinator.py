"""A transaction shard with a log, and a hand that does what the shard asks."""

from __future__ import annotations

from collections.abc import Iterable

from odradek.kafka.coordinator.producer_ids import Block, ProducerIds
from odradek.kafka.coordinator.transactions import TransactionShard
from odradek.kafka.coordinator.txn_effects import Answer, Append, Markers
from odradek.kafka.coordinator.txn_records import StoredRecord
from odradek.kafka.coordinator.txn_settings import DEFAULTS, TransactionShardSettings
from odradek.kafka.coordinator.txn_state import Claim, State, Transaction
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.init_producer_id import InitProducerIdRequest

NOW_MS = 1_700_000_000_000
TIMEOUT_MS = 60_000
P0, P1, P2 = (TopicPartition("t", number) for number in range(3))


def new_ids(first: int = 1000) -> ProducerIds:
    ids = ProducerIds()
    ids.receive(Block(first), NOW_MS)
    return ids


def init_request(
    transactional_id: str | None = "tx",
    timeout_ms: int = TIMEOUT_MS,
    producer_id: int = -1,
    producer_epoch: int = -1,
) -> InitProducerIdRequest:
    return InitProducerIdRequest(
        transactional_id=transactional_id,
        transaction_timeout_ms=timeout_ms,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
    )


class Coordinator:
    """One coordinator's time in office. Appends and markers wait until they are let through."""

    def __init__(
        self,
        log: Iterable[StoredRecord] = (),
        *,
        epoch: int = 0,
        ids: ProducerIds | None = None,
        settings: TransactionShardSettings = DEFAULTS,
        now_ms: int = NOW_MS,
    ) -> None:
        self.now_ms = now_ms
        self.log = list(log)
        self.appends: list[Append] = []
        self.markers: list[Markers] = []
        self.shard = TransactionShard(epoch, ids or new_ids(), settings)
        for record in self.log:
            self.shard.apply(*record)
        self.shard.loaded(now_ms)
        self._answers: list[Answer] = []
        self.gather()

    def gather(self) -> None:
        effects = self.shard.take_effects()
        self.appends += effects.appends
        self.markers += effects.markers
        self._answers += effects.answers

    @property
    def answer(self) -> Answer:
        """The one answer since the last look."""
        assert len(self._answers) == 1, self._answers
        return self._answers.pop()

    @property
    def is_silent(self) -> bool:
        return not self._answers

    def transaction(self, transactional_id: str = "tx") -> Transaction:
        return self.shard.held[transactional_id].transaction

    @property
    def state(self) -> State:
        return self.transaction().state

    # Requests.

    def ask_init(self, request: InitProducerIdRequest) -> None:
        self.shard.init_producer_id("init", request, self.now_ms)
        self.gather()

    def init(self, timeout_ms: int = TIMEOUT_MS) -> Answer:
        self.ask_init(init_request(timeout_ms=timeout_ms))
        self.commit()
        return self.answer

    def claim(self, epoch: int | None = None) -> Claim:
        """The producer as the coordinator knows it, or an older one."""
        known = self.transaction()
        return Claim("tx", known.producer_id, known.producer_epoch if epoch is None else epoch)

    def ask_add(self, *partitions: TopicPartition, claim: Claim | None = None) -> None:
        self.shard.add_partitions("add", claim or self.claim(), partitions, self.now_ms)
        self.gather()

    def add(self, *partitions: TopicPartition, claim: Claim | None = None) -> ErrorCode:
        self.ask_add(*partitions, claim=claim)
        self.commit()
        return self.answer.code

    def ask_end(self, *, is_commit: bool = True, claim: Claim | None = None) -> None:
        claim = claim or self.claim()
        self.shard.end("end", claim, is_commit=is_commit, now_ms=self.now_ms)
        self.gather()

    def end(self, *, is_commit: bool = True, claim: Claim | None = None) -> ErrorCode:
        self.ask_end(is_commit=is_commit, claim=claim)
        self.commit()
        return self.answer.code

    # What comes of it.

    def commit(self) -> None:
        """Let through all appends that wait."""
        appends, self.appends = self.appends, []
        for append in appends:
            self.log += append.records
            self.shard.appended(append.number, self.now_ms)
        self.gather()

    def fail(self, code: ErrorCode) -> None:
        appends, self.appends = self.appends, []
        for append in appends:
            self.shard.append_failed(append.number, code, self.now_ms)
        self.gather()

    def answer_markers(self, code: ErrorCode = ErrorCode.NONE) -> None:
        markers, self.markers = self.markers, []
        for each in markers:
            codes = dict.fromkeys(each.partitions, code)
            self.shard.markers_answered(each.number, codes, self.now_ms)
        self.gather()

    def finish(self) -> None:
        """Markers and the record behind them."""
        self.answer_markers()
        self.commit()

    def pass_time(self, milliseconds: int) -> None:
        self.now_ms += milliseconds
        self.shard.tick(self.now_ms)
        self.gather()
