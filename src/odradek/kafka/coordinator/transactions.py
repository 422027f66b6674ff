"""One partition of `__transaction_state`: the transactions whose ids hash to it.

A transaction is all or nothing, because its end is one record. Until PrepareCommit or
PrepareAbort is in the log of all in-sync replicas nothing is decided; from then on nothing else
can be, and markers go out until every partition has one, whoever coordinates meanwhile.

decide (`txn_decide`) → an append → apply when it is committed → the answer. While an append is
under way its transaction is pending and refuses other moves; an append that fails leaves it as
it was. Effects are gathered until `take_effects`; the broker says how each went.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Protocol

from odradek.kafka.coordinator import txn_errors
from odradek.kafka.coordinator.txn_deadlines import Deadlines
from odradek.kafka.coordinator.txn_decide import (
    Decision,
    Expected,
    decide_add,
    decide_complete,
    decide_end,
    decide_fence,
    decide_init,
    verify,
)
from odradek.kafka.coordinator.txn_effects import Answer, Append, Effects, Token
from odradek.kafka.coordinator.txn_markers import Sending, Sendings
from odradek.kafka.coordinator.txn_records import (
    decode_key,
    decode_value,
    encode_record,
    encode_tombstone,
    in_batches,
)
from odradek.kafka.coordinator.txn_settings import DEFAULTS, TransactionShardSettings
from odradek.kafka.coordinator.txn_state import (
    COMPLETE,
    NONE,
    PREPARED,
    Claim,
    Held,
    State,
    Transaction,
    created,
)
from odradek.kafka.coordinator.txn_times import Times
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.init_producer_id import InitProducerIdRequest
from odradek.kafka.wire.octets import Octets


class Phase(Enum):
    """What a shard may be asked."""

    LOADING = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    ACTIVE = ErrorCode.NONE
    UNLOADED = ErrorCode.NOT_COORDINATOR


class IdSource(Protocol):
    """Where producer ids come from."""

    def take(self) -> int | None:
        """A new one; None if a client must wait for it."""


@dataclass(frozen=True, slots=True)
class Move:
    """A transaction as it will be when its record is committed, and who waits for that."""

    target: Transaction
    token: Token | None = None
    code: ErrorCode = ErrorCode.NONE  # The answer then.
    is_fence: bool = False


@dataclass(frozen=True, slots=True)
class Burial:
    """Transactional ids that will be forgotten when their tombstones are committed."""

    transactional_ids: tuple[str, ...]


class TransactionShard:
    """What one coordinator knows; `coordinator_epoch` is the leader epoch of the partition."""

    __slots__ = (
        "_effects",
        "_number",
        "_pending",
        "_producer_ids",
        "_retries",
        "_sendings",
        "_times",
        "coordinator_epoch",
        "held",
        "phase",
        "settings",
    )

    def __init__(
        self,
        coordinator_epoch: int,
        producer_ids: IdSource,
        settings: TransactionShardSettings = DEFAULTS,
    ) -> None:
        self.coordinator_epoch = coordinator_epoch
        self.settings = settings
        self.phase = Phase.LOADING
        self.held: dict[str, Held] = {}
        self._producer_ids = producer_ids
        self._effects = Effects()
        # Unlike those of the coordinator before, whose appends may be answered yet.
        self._number = coordinator_epoch << 32
        self._pending: dict[int, Move | Burial] = {}  # Appends under way, by number.
        self._sendings = Sendings(coordinator_epoch)
        self._retries: Deadlines[int] = Deadlines()  # Of appends that note a transaction's end.
        self._times = Times(self.held, settings, 0)

    # Loading and unloading.

    def apply(self, key: Octets, value: Octets | None) -> None:
        """Take account of a record that is in the log. Records come in their order."""
        transactional_id = decode_key(key)
        if transactional_id is None:
            return
        if value is None:
            self.held.pop(transactional_id, None)
        else:
            self.held[transactional_id] = Held(decode_value(transactional_id, value))

    def loaded(self, now_ms: int) -> None:
        """All records are applied: serve, and finish what another coordinator decided."""
        self.phase = Phase.ACTIVE
        self._times = Times(self.held, self.settings, now_ms)
        for held in list(self.held.values()):
            if held.transaction.state in PREPARED:
                self._send_markers(held, now_ms)
            else:
                self._times.set(held.transaction, now_ms)

    def unload(self) -> None:
        """Another broker coordinates now. What waits is told so; what comes later is ignored."""
        self.phase = Phase.UNLOADED
        waiting = [move.token for move in self._pending.values() if isinstance(move, Move)]
        self._pending.clear()
        self._sendings = Sendings(self.coordinator_epoch)
        self._retries.clear()
        self.held.clear()
        self._times = Times(self.held, self.settings, 0)
        self._effects = Effects(answers=self._effects.answers)
        for token in waiting:
            self._answer(token, ErrorCode.NOT_COORDINATOR)

    # Requests.

    def init_producer_id(self, token: Token, request: InitProducerIdRequest, now_ms: int) -> None:
        """Give a producer its id and epoch; shut out the one before it."""
        transactional_id, timeout_ms = request.transactional_id, request.transaction_timeout_ms
        expected = expected_of(request)
        if not transactional_id or isinstance(expected, ErrorCode):
            self._answer(token, ErrorCode.INVALID_REQUEST)
        elif not 0 < timeout_ms <= self.settings.timeout_max_ms:
            self._answer(token, ErrorCode.INVALID_TRANSACTION_TIMEOUT)
        elif self.phase is not Phase.ACTIVE:
            self._answer(token, self.phase.value)
        elif (held := self._find_or_create(transactional_id, timeout_ms, now_ms)) is None:
            self._answer(token, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        else:
            take_id = self._producer_ids.take
            decision = decide_init(held, timeout_ms, expected, take_id, now_ms)
            self._carry_out_init(token, held, decision, now_ms)

    def add_partitions(
        self, token: Token, claim: Claim, partitions: Iterable[TopicPartition], now_ms: int
    ) -> None:
        """Take partitions into a transaction: of topics, or of `__consumer_offsets`."""
        found = self._find(claim.transactional_id)
        if isinstance(found, Held):
            decision = decide_add(found, claim, frozenset(partitions), now_ms)
            self._carry_out(token, found, decision, now_ms)
        else:
            self._answer(token, found)

    @property
    def markers_waiting(self) -> int:
        """How many markers will be tried again, since nobody took them."""
        return self._sendings.waiting_count

    @property
    def appends_waiting(self) -> int:
        """How many transactions are over, but could not be noted so yet."""
        return len(self._retries)

    def verify_partitions(
        self, claim: Claim, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, ErrorCode]:
        """Say of each partition whether it is in the open transaction. Answered at once."""
        found = self._find(claim.transactional_id)
        if isinstance(found, Held):
            return {each: verify(found, claim, each) for each in partitions}
        return dict.fromkeys(partitions, found)

    def end(self, token: Token, claim: Claim, *, is_commit: bool, now_ms: int) -> None:
        """Commit or abort."""
        found = self._find(claim.transactional_id)
        if isinstance(found, Held):
            self._carry_out(token, found, decide_end(found, claim, is_commit, now_ms), now_ms)
        else:
            self._answer(token, found)

    # What the broker reports.

    def take_effects(self) -> Effects:
        """All that has gathered, to be done now."""
        effects, self._effects = self._effects, Effects()
        return effects

    def appended(self, number: int, now_ms: int) -> None:
        """An append is committed: every in-sync replica has it."""
        done = self._pending.pop(number, None)
        if isinstance(done, Move):
            self._apply_move(done, now_ms)
        elif isinstance(done, Burial):
            for transactional_id in done.transactional_ids:
                del self.held[transactional_id]

    def append_failed(self, number: int, code: ErrorCode, now_ms: int) -> None:
        """An append was refused, or it is not known whether it will ever be committed."""
        failed = self._pending.get(number)
        if isinstance(failed, Burial):
            del self._pending[number]
            for transactional_id in failed.transactional_ids:
                self._release(self.held[transactional_id], now_ms)
        elif failed is not None and failed.target.state in COMPLETE:
            # The markers are written and the decision stands, so nothing else can be next.
            self._retries.set(number, now_ms + self.settings.retry_ms)
        elif failed is not None:
            del self._pending[number]
            held = self.held[failed.target.transactional_id]
            held.has_failed_fence = held.has_failed_fence or failed.is_fence
            self._release(held, now_ms)
            self._answer(failed.token, txn_errors.of_append(code))

    def markers_answered(
        self, number: int, codes: Mapping[TopicPartition, ErrorCode], now_ms: int
    ) -> None:
        """What the leaders of partitions said to their markers; no answer is an error too."""
        sending = self._sendings.get(number)
        if sending is None:
            return
        written = [each for each, code in codes.items() if code in txn_errors.MARKER_NOT_NEEDED]
        self._partitions_done(sending, written)
        if not txn_errors.MARKER_FENCED.isdisjoint(codes.values()):
            # A later coordinator, or a later epoch, has been there: this is not ours to finish.
            self._sendings.drop(number)
            return
        again = codes.keys() - set(written)
        self._sendings.repeat_at(sending, again, now_ms + self.settings.retry_ms)
        self._complete_if_done(sending, now_ms)

    def partitions_gone(
        self, number: int, partitions: Iterable[TopicPartition], now_ms: int
    ) -> None:
        """These exist no more, so they need no markers."""
        if sending := self._sendings.get(number):
            self._partitions_done(sending, partitions)
            self._complete_if_done(sending, now_ms)

    # Time.

    @property
    def next_deadline_ms(self) -> int | None:
        """When `tick` has something to do; None if only a request can bring it."""
        found = [each.next_ms for each in (self._sendings, self._retries, self._times)]
        return min((each for each in found if each is not None), default=None)

    def tick(self, now_ms: int) -> None:
        """Repeat what failed, abort what is open too long, forget what is long unused."""
        self._effects.markers += self._sendings.take_due(now_ms)
        for number in list(self._retries.take_due(now_ms)):
            if isinstance(move := self._pending.get(number), Move):
                self._effects.appends.append(self._append_of(number, move, now_ms))
        for held in list(self._times.take_timed_out(now_ms)):
            self._fence(held, decide_fence(held, now_ms), None, now_ms)
        expired = [each.transaction.transactional_id for each in self._times.take_expired(now_ms)]
        for batch in in_batches(expired, self.settings.batch_bytes_max):
            self._bury(batch, now_ms)

    # Carrying out decisions.

    def _find(self, transactional_id: str) -> Held | ErrorCode:
        if not transactional_id:
            return ErrorCode.INVALID_REQUEST
        if self.phase is not Phase.ACTIVE:
            code: ErrorCode = self.phase.value
            return code
        return self.held.get(transactional_id, ErrorCode.INVALID_PRODUCER_ID_MAPPING)

    def _find_or_create(self, transactional_id: str, timeout_ms: int, now_ms: int) -> Held | None:
        """Kafka keeps the new id in memory even if its first append fails, and so do we."""
        held = self.held.get(transactional_id)
        if held is None and (producer_id := self._producer_ids.take()) is not None:
            held = Held(created(transactional_id, producer_id, timeout_ms, now_ms))
            self.held[transactional_id] = held
        return held

    def _carry_out_init(self, token: Token, held: Held, decision: Decision, now_ms: int) -> None:
        if isinstance(decision, Transaction) and decision.state is State.PREPARE_ABORT:
            self._fence(held, decision, token, now_ms)
        else:
            self._carry_out(token, held, decision, now_ms)

    def _carry_out(self, token: Token, held: Held, decision: Decision, now_ms: int) -> None:
        if isinstance(decision, Transaction):
            self._log(held, Move(decision, token), now_ms)
        else:
            self._answer(token, decision)

    def _fence(self, held: Held, target: Transaction, token: Token | None, now_ms: int) -> None:
        """Abort under a new epoch, which shuts out the producer from this moment on."""
        epoch = target.producer_epoch
        held.transaction = replace(held.transaction, producer_epoch=epoch, last_producer_epoch=NONE)
        move = Move(target, token, ErrorCode.CONCURRENT_TRANSACTIONS, is_fence=True)
        self._log(held, move, now_ms)

    def _log(self, held: Held, move: Move, now_ms: int) -> None:
        held.pending = move.target.state
        number = self._take_number()
        self._pending[number] = move
        self._effects.appends.append(self._append_of(number, move, now_ms))

    def _append_of(self, number: int, move: Move, now_ms: int) -> Append:
        record = encode_record(move.target)
        return Append(number, (record,), now_ms, move.target.timeout_ms)

    def _apply_move(self, move: Move, now_ms: int) -> None:
        target = move.target
        held = self.held[target.transactional_id]
        held.transaction = target
        self._release(held, now_ms)
        if target.state is State.EMPTY:
            self._answer(move.token, ErrorCode.NONE, target.producer_id, target.producer_epoch)
            return
        self._answer(move.token, move.code)
        if target.state in PREPARED:
            self._send_markers(held, now_ms)

    def _release(self, held: Held, now_ms: int) -> None:
        held.pending = None
        self._times.set(held.transaction, now_ms)

    # From the decision to its end.

    def _send_markers(self, held: Held, now_ms: int) -> None:
        completed = decide_complete(held.transaction, now_ms)
        held.pending, held.has_failed_fence = completed.state, False
        number = self._take_number()
        markers = self._sendings.start(number, held.transaction, completed)
        if markers.partitions:
            self._effects.markers.append(markers)
        else:
            self.partitions_gone(number, (), now_ms)

    def _partitions_done(self, sending: Sending, partitions: Iterable[TopicPartition]) -> None:
        self._sendings.written(sending, partitions)
        held = self.held[sending.transaction.transactional_id]
        held.transaction = replace(held.transaction, partitions=frozenset(sending.left))

    def _complete_if_done(self, sending: Sending, now_ms: int) -> None:
        if not sending.left:
            self._sendings.drop(sending.number)
            held = self.held[sending.transaction.transactional_id]
            self._log(held, Move(sending.completed), now_ms)

    def _bury(self, batch: tuple[str, ...], now_ms: int) -> None:
        for transactional_id in batch:
            self.held[transactional_id].pending = State.DEAD
        number = self._take_number()
        self._pending[number] = Burial(batch)
        records = tuple(encode_tombstone(each) for each in batch)
        append = Append(number, records, now_ms, self.settings.request_timeout_ms)
        self._effects.appends.append(append)

    def _answer(
        self, token: Token | None, code: ErrorCode, producer_id: int = NONE, epoch: int = NONE
    ) -> None:
        if token is not None:
            self._effects.answers.append(Answer(token, code, producer_id, epoch))

    def _take_number(self) -> int:
        self._number += 1
        return self._number


def expected_of(request: InitProducerIdRequest) -> Expected | ErrorCode | None:
    """The producer that asks for its next epoch: both parts are given, or neither."""
    expected = Expected(request.producer_id, request.producer_epoch)
    if NONE not in expected:
        return expected
    return None if expected == (NONE, NONE) else ErrorCode.INVALID_REQUEST
