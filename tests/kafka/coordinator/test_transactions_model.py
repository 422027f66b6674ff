"""Clients, crashes and failures in any order: a transaction stays all or nothing.

The log decides. Whatever a coordinator did not get into it did not happen; whatever it did get
into it, the next coordinator finishes, in the same sense.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from odradek.kafka.coordinator.transactions import TransactionShard
from odradek.kafka.coordinator.txn_effects import Append, Markers
from odradek.kafka.coordinator.txn_records import StoredRecord, decode_key, decode_value
from odradek.kafka.coordinator.txn_settings import TransactionShardSettings
from odradek.kafka.coordinator.txn_state import COMPLETE, PREPARED, Claim, State, Transaction
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.control import MarkerType
from odradek.kafka.wire.errors import ErrorCode
from tests.kafka.coordinator.txn_coordinator import NOW_MS, P0, P1, P2, init_request, new_ids

SETTINGS = TransactionShardSettings(
    id_expiration_ms=200_000, abort_interval_ms=1000, expire_interval_ms=5000
)
TIMEOUT_MS = 20_000
IDS = st.sampled_from(["a", "b"])
PARTITIONS = st.sampled_from([P0, P1, P2])
FAILURES = st.sampled_from(
    [ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NOT_LEADER_OR_FOLLOWER]
)
NOTHING_KNOWN = -1, -1


@dataclass
class Partition:
    """A partition as far as markers go: who wrote last, and what."""

    known: dict[int, tuple[int, int]] = field(default_factory=dict)
    written: list[Markers] = field(default_factory=list)

    def write(self, marker: Markers) -> ErrorCode:
        epoch, coordinator_epoch = self.known.get(marker.producer_id, NOTHING_KNOWN)
        if marker.producer_epoch < epoch:
            return ErrorCode.INVALID_PRODUCER_EPOCH
        if marker.coordinator_epoch < coordinator_epoch:
            return ErrorCode.TRANSACTION_COORDINATOR_FENCED
        self.known[marker.producer_id] = marker.producer_epoch, marker.coordinator_epoch
        self.written.append(marker)
        return ErrorCode.NONE


@dataclass
class Decision:
    """A decision in the log, and what each of its partitions was told since."""

    transaction: Transaction
    told: dict[TopicPartition, set[MarkerType]] = field(default_factory=lambda: defaultdict(set))


class Transactions(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.now_ms = NOW_MS
        self.epoch = 0
        self.log: list[StoredRecord] = []
        self.last: dict[str, Transaction] = {}  # What the log says, by id.
        self.unsure: set[str] = set()  # The log may say more than the coordinator knows.
        self.decided: dict[str, Decision] = {}
        self.partitions = {each: Partition() for each in (P0, P1, P2)}
        self.ids = new_ids()
        self.clients: dict[str, Claim] = {}
        self.load()

    def load(self) -> None:
        self.shard = TransactionShard(self.epoch, self.ids, SETTINGS)
        for record in self.log:
            self.shard.apply(*record)
        self.appends: list[Append] = []
        self.markers: list[Markers] = []
        self.waiting: dict[object, str] = {}
        self.unsure.clear()
        for name, transaction in self.last.items():
            if transaction.state in PREPARED and name not in self.decided:
                self.decided[name] = Decision(transaction)
        self.shard.loaded(self.now_ms)
        self.gather()

    # What the coordinator wants.

    def gather(self) -> None:
        effects = self.shard.take_effects()
        self.appends += effects.appends
        for answer in effects.answers:
            name = self.waiting.pop(answer.token)  # Each request is answered once.
            if answer.producer_id >= 0:
                self.clients[name] = Claim(name, answer.producer_id, answer.producer_epoch)
        for markers in effects.markers:
            self.check_markers(markers)
            self.markers.append(markers)

    def check_markers(self, markers: Markers) -> None:
        """A marker leaves only while the log's last word is the decision that it carries."""
        last = self.last[markers.transactional_id]
        is_commit = markers.type is MarkerType.COMMIT
        assert last.state is (State.PREPARE_COMMIT if is_commit else State.PREPARE_ABORT)
        assert (last.producer_id, last.producer_epoch) == (
            markers.producer_id,
            markers.producer_epoch,
        )
        assert set(markers.partitions) <= last.partitions
        assert markers.coordinator_epoch == self.epoch

    def write(self, append: Append, *, is_sure: bool) -> None:
        for record in append.records:
            self.log.append(record)
            name = decode_key(record.key)
            assert name is not None
            self.write_one(name, record.value, is_sure)

    def write_one(self, name: str, value: bytes | None, is_sure: bool) -> None:
        (self.unsure.discard if is_sure else self.unsure.add)(name)
        if value is None:
            self.last.pop(name, None)  # Its first record may never have got there.
            return
        transaction = decode_value(name, value)
        if transaction.state in COMPLETE:
            self.check_complete(name, transaction)
        else:
            assert name not in self.decided, "only its end can follow a decision"
        if transaction.state in PREPARED and is_sure:
            self.decided[name] = Decision(transaction)
        self.last[name] = transaction

    def check_complete(self, name: str, complete: Transaction) -> None:
        """All partitions were told the decision, and nothing else, before its end is noted."""
        decision = self.decided.pop(name, None)
        if decision is None:
            assert self.last[name] == complete  # The same end once more: the first was unsure.
            return
        is_commit = decision.transaction.state is State.PREPARE_COMMIT
        assert complete.state is (State.COMPLETE_COMMIT if is_commit else State.COMPLETE_ABORT)
        kind = MarkerType.COMMIT if is_commit else MarkerType.ABORT
        assert all(decision.told[each] == {kind} for each in decision.transaction.partitions)

    # Clients.

    @initialize()
    def start(self) -> None:
        for name in ("a", "b"):
            self.init(name, is_naming=False)
        self.commit_appends()

    def ask(self, name: str) -> object:
        token = object()
        self.waiting[token] = name
        return token

    @rule(name=IDS, is_naming=st.booleans())
    def init(self, name: str, is_naming: bool) -> None:
        known = self.clients.get(name) if is_naming else None
        producer = known[1:] if known else (-1, -1)
        request = init_request(name, TIMEOUT_MS, *producer)
        self.shard.init_producer_id(self.ask(name), request, self.now_ms)
        self.gather()

    @rule(name=IDS, partitions=st.sets(PARTITIONS, min_size=1), is_answered=st.booleans())
    def add(self, name: str, partitions: set[TopicPartition], is_answered: bool) -> None:
        if claim := self.clients.get(name):
            self.shard.add_partitions(self.ask(name), claim, partitions, self.now_ms)
            self.gather()
            if is_answered:
                self.commit_appends()

    @rule(name=IDS, is_commit=st.booleans(), is_answered=st.booleans())
    def end(self, name: str, is_commit: bool, is_answered: bool) -> None:
        if claim := self.clients.get(name):
            self.shard.end(self.ask(name), claim, is_commit=is_commit, now_ms=self.now_ms)
            self.gather()
            if is_answered:
                self.commit_appends()

    @rule(name=IDS, partitions=st.sets(PARTITIONS, min_size=1), is_commit=st.booleans())
    def add_and_end(self, name: str, partitions: set[TopicPartition], is_commit: bool) -> None:
        self.add(name, partitions, is_answered=True)
        self.end(name, is_commit, is_answered=True)

    # The world.

    @rule()
    def commit_appends(self) -> None:
        appends, self.appends = self.appends, []
        for append in appends:
            self.write(append, is_sure=True)
            self.shard.appended(append.number, self.now_ms)
        self.gather()

    @precondition(lambda self: self.appends)
    @rule(code=FAILURES, is_there=st.booleans())
    def fail_append(self, code: ErrorCode, is_there: bool) -> None:
        append = self.appends.pop(0)
        if is_there:
            self.write(append, is_sure=False)
        self.shard.append_failed(append.number, code, self.now_ms)
        self.gather()

    @precondition(lambda self: self.markers)
    @rule(is_heard=st.booleans())
    def deliver(self, is_heard: bool) -> None:
        markers = self.markers.pop(0)
        codes = {}
        for where in markers.partitions:
            code = self.partitions[where].write(markers)
            decision = self.decided.get(markers.transactional_id)
            if decision and code is ErrorCode.NONE:
                decision.told[where].add(markers.type)
            codes[where] = code if is_heard else ErrorCode.NETWORK_EXCEPTION
        if markers.coordinator_epoch == self.epoch:
            assert set(codes.values()) <= {ErrorCode.NONE, ErrorCode.NETWORK_EXCEPTION}
        self.shard.markers_answered(markers.number, codes, self.now_ms)
        self.gather()

    @precondition(lambda self: self.markers)
    @rule()
    def lose_markers(self) -> None:
        markers = self.markers.pop()
        codes = dict.fromkeys(markers.partitions, ErrorCode.NETWORK_EXCEPTION)
        self.shard.markers_answered(markers.number, codes, self.now_ms)
        self.gather()

    @rule(milliseconds=st.sampled_from([1, 100, 100, 1000, 1000, 30_000, 250_000]))
    def pass_time(self, milliseconds: int) -> None:
        self.now_ms += milliseconds
        self.shard.tick(self.now_ms)
        self.gather()

    @rule(is_there=st.booleans())
    def crash(self, is_there: bool) -> None:
        """Another broker takes over; of what was under way all may be in its log, or nothing."""
        for append in self.appends if is_there else ():
            self.write(append, is_sure=False)
        late = self.markers
        self.epoch += 1
        self.load()
        self.markers = late + self.markers  # On the way, they still arrive.

    # What must hold at any time.

    @invariant()
    def what_is_loaded_is_what_is_known(self) -> None:
        for name, held in self.shard.held.items():
            is_settled = held.pending is None and not held.has_failed_fence
            if is_settled and name not in self.unsure and held.transaction.producer_epoch >= 0:
                known = replace(held.transaction, last_producer_id=-1, last_producer_epoch=-1)
                assert known == self.last[name]

    @invariant()
    def something_that_waits_will_be_looked_at(self) -> None:
        if any(held.pending is None for held in self.shard.held.values()):
            assert self.shard.next_deadline_ms is not None

    @invariant()
    def no_marker_of_an_old_epoch_follows_a_new_one(self) -> None:
        for partition in self.partitions.values():
            newest: dict[int, tuple[int, int]] = {}
            for marker in partition.written:
                now = marker.producer_epoch, marker.coordinator_epoch
                before = newest.get(marker.producer_id, NOTHING_KNOWN)
                assert now[0] >= before[0] and now[1] >= before[1]
                newest[marker.producer_id] = now

    def teardown(self) -> None:
        """Once nothing fails any more, everything that is decided ends."""
        for _ in range(60):
            if not (self.appends or self.markers or self.decided):
                return
            if self.appends:
                self.commit_appends()
            elif self.markers:
                self.deliver(is_heard=True)
            else:
                self.pass_time(100)
        pytest.fail(f"undecided for ever: {self.decided}")


TestTransactions = Transactions.TestCase
TestTransactions.settings = settings(max_examples=50, stateful_step_count=40, deadline=None)


def walk(machine: Transactions, chance: Random) -> None:
    """One step; what clients do is likelier than what befalls them."""
    name = chance.choice("ab")
    partitions = set(chance.sample([P0, P1, P2], chance.randint(1, 3)))
    is_so, is_also = chance.random() < 0.5, chance.random() < 0.5
    steps: list[tuple[int, Callable[[], None]]] = [
        (4, lambda: machine.init(name, is_so)),
        (4, lambda: machine.add(name, partitions, is_so)),
        (5, lambda: machine.end(name, is_so, is_also)),
        (9, machine.commit_appends),
        (6, lambda: machine.pass_time(chance.choice([1, 100, 1000]))),
        (1, lambda: machine.pass_time(chance.choice([30_000, 30_000, 30_000, 250_000]))),
        (1, lambda: machine.crash(is_so)),
    ]
    if machine.appends:
        code = chance.choice([ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NOT_LEADER_OR_FOLLOWER])
        steps.append((2, lambda: machine.fail_append(code, is_so)))
    if machine.markers:
        steps.append((6, lambda: machine.deliver(is_so)))
        steps.append((1, machine.lose_markers))
    [step] = chance.choices([step for _, step in steps], [weight for weight, _ in steps])
    step()


@pytest.mark.parametrize("seed", range(30))
def test_a_long_walk_keeps_every_transaction_whole(seed: int) -> None:
    chance = Random(seed)
    machine = Transactions()
    machine.start()
    for _ in range(400):
        walk(machine, chance)
        machine.what_is_loaded_is_what_is_known()
        machine.something_that_waits_will_be_looked_at()
    machine.no_marker_of_an_old_epoch_follows_a_new_one()
    machine.teardown()
