"""Members come, go, hang and crash in any order, coordinators too; what must hold, holds.

One owner a partition and generation. Committed offsets do not go back. What clients see is what
the log says. Whoever is left alone for a while ends up in one stable group that does all the work.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from odradek.kafka.coordinator.group import State
from odradek.kafka.coordinator.groups_desk import Limits
from odradek.kafka.wire.errors import ErrorCode
from tests.kafka.coordinator.group_consumer import PARTITIONS, Consumer, Ownership, Phase
from tests.kafka.coordinator.group_stage import SESSION_MS, Stage

SLOTS = st.integers(0, 5)
T0 = ("t", 0)
BRIEFLY = settings(max_examples=25, stateful_step_count=40, deadline=None)
FAILURES = st.sampled_from([ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.REQUEST_TIMED_OUT])


class Interleavings(RuleBasedStateMachine):
    """Six processes, two of them static, and a coordinator whose log takes its time."""

    def __init__(self) -> None:
        super().__init__()
        self.stage = Stage(Limits(initial_delay_ms=100)).loaded()
        self.stage.is_holding = True
        ownership = Ownership()
        instances = [None, None, None, None, "i", "j"]
        self.consumers = [Consumer(f"c{n}", ownership, each) for n, each in enumerate(instances)]
        self.next_offset = 0
        self.seen_offset = -1
        self.producers: set[int] = set()

    @rule(slot=SLOTS)
    def start(self, slot: int) -> None:
        if self.consumers[slot].phase is Phase.OFF:
            self.consumers[slot].start(self.stage)

    @rule(slot=SLOTS)
    def step(self, slot: int) -> None:
        self.consumers[slot].step(self.stage)

    @rule(slot=SLOTS)
    def leave(self, slot: int) -> None:
        if self.consumers[slot].phase is not Phase.OFF:
            self.consumers[slot].leave(self.stage)

    @rule(slot=SLOTS)
    def crash(self, slot: int) -> None:
        self.consumers[slot].vanish()

    @rule(duration_ms=st.sampled_from([1, 99, 1000, SESSION_MS // 2, SESSION_MS, 60_000]))
    def pass_ms(self, duration_ms: int) -> None:
        self.stage.pass_ms(duration_ms)

    @rule(round_count=st.integers(1, 4))
    def go_on(self, round_count: int) -> None:
        """For a while nothing unusual happens."""
        for _ in range(round_count):
            self.stage.pass_ms(100)
            for consumer in self.consumers:
                consumer.step(self.stage)
            self.stage.settle()

    @precondition(lambda self: self.stage.held)
    @rule()
    def write(self) -> None:
        self.stage.settle_one()

    @rule(slot=SLOTS)
    def commit(self, slot: int) -> None:
        consumer = self.consumers[slot]
        if consumer.phase is Phase.STABLE:
            self.next_offset += 1
            self.stage.ask_commit(
                {T0: self.next_offset},
                member_id=consumer.member_id,
                generation=consumer.generation,
                instance=consumer.instance,
            )

    @rule(producer_id=st.integers(1, 2))
    def commit_in_transaction(self, producer_id: int) -> None:
        self.next_offset += 1
        self.producers.add(producer_id)
        self.stage.ask_txn_commit({T0: self.next_offset}, producer_id)

    @rule(producer_id=st.integers(1, 2), is_commit=st.booleans())
    def end_transaction(self, producer_id: int, is_commit: bool) -> None:
        if producer_id in self.producers:
            self.producers.remove(producer_id)
            self.stage.end_transaction(producer_id, is_commit=is_commit)

    @rule(written_count=st.integers(0, 3))
    def change_coordinator(self, written_count: int) -> None:
        """The old one crashes; of what it had not heard of, some is in the log."""
        for append in list(self.stage.held)[:written_count]:
            self.stage.write(append.batch())
        self.stage = self.stage.restarted()
        self.stage.is_holding = True
        for consumer in self.consumers:
            consumer.reconnect(self.stage)

    @invariant()
    def offsets_do_not_go_back(self) -> None:
        offset = self.stage.offset()
        assert offset >= self.seen_offset
        self.seen_offset = offset

    @invariant()
    def offsets_are_what_the_log_says(self) -> None:
        assert self.stage.restarted().offset() == self.stage.offset()

    @invariant()
    def all_that_is_counted_is_there(self) -> None:
        group = self.stage.shard.desk.groups.get("g")
        if group is not None:
            members = group.members.values()
            assert group.joining_count == sum(member.joining is not None for member in members)
            assert set(group.static.values()) <= set(group.members)
            assert set(group.unsynced) <= set(group.members)
            assert group.leader_id in group.members or not group.members

    @invariant()
    def nobody_is_forgotten(self) -> None:
        assert not self.stage.forgotten()
        for group in self.stage.shard.desk.groups.values():
            for member in group.members.values():
                assert member.syncing is None or group.state is State.COMPLETING
                is_replaced = group.state is State.STABLE and member.instance_id is not None
                assert member.joining is None or group.state is State.PREPARING or is_replaced

    def teardown(self) -> None:
        """Calm down: all who run end up in one generation, which does all the work."""
        self.stage.fails_with = None
        self.stage.is_holding = False
        self.stage.settle()
        for consumer in self.consumers:
            consumer.may_be_unknown = True
        running = [each for each in self.consumers if each.phase is not Phase.OFF]
        for _ in range(100):
            self.stage.pass_ms(2000)
            for consumer in running:
                consumer.step(self.stage)
        assert all(each.phase is Phase.STABLE for each in running)
        assert len({each.generation for each in running}) <= 1
        owned = [partition for each in running for partition in each.owned]
        assert sorted(owned) == (list(PARTITIONS) if running else [])


class FaithfulInterleavings(Interleavings):
    """The log takes all that it is given: then a restart shows the group as it was."""

    @invariant()
    def the_group_is_what_the_log_says(self) -> None:
        group = self.stage.shard.desk.groups.get("g")
        is_settled = group is not None and group.state.value in ("Stable", "Empty")
        if group is not None and is_settled and group.generation_id and not self.stage.held:
            ours = self.stage.shard.describe_group("g")
            theirs = self.stage.restarted().shard.describe_group("g")
            assert ours.group_state == theirs.group_state
            assert ours.protocol_data == theirs.protocol_data
            by_id = {member.member_id: member for member in ours.members}
            assert by_id == {member.member_id: member for member in theirs.members}


class FailingInterleavings(Interleavings):
    """The log refuses now and then."""

    @precondition(lambda self: self.stage.held)
    @rule(error=FAILURES)
    def fail_to_write(self, error: ErrorCode) -> None:
        self.stage.fails_with = error
        self.stage.settle_one()
        self.stage.fails_with = None


TestFaithfulInterleavings = FaithfulInterleavings.TestCase
TestFailingInterleavings = FailingInterleavings.TestCase
TestFaithfulInterleavings.settings = BRIEFLY
TestFailingInterleavings.settings = BRIEFLY


def act(machine: Interleavings, random: Random) -> None:
    """Do one thing, the usual more often than the unusual."""
    slot, producer_id = random.randrange(6), random.randint(1, 2)
    actions: list[tuple[int, Callable[[], None]]] = [
        (30, lambda: machine.step(slot)),
        (10, lambda: machine.start(slot)),
        (10, lambda: machine.go_on(random.randint(1, 4))),
        (15, lambda: machine.write() if machine.stage.held else None),
        (10, lambda: machine.commit(slot)),
        (5, lambda: machine.commit_in_transaction(producer_id)),
        (3, lambda: machine.end_transaction(producer_id, random.random() < 0.7)),
        (3, lambda: machine.leave(slot)),
        (2, lambda: machine.crash(slot)),
        (5, lambda: machine.pass_ms(random.choice([1, 100, 1000, 4000]))),
        (1, lambda: machine.pass_ms(random.choice([SESSION_MS, 60_000]))),
        (1, lambda: machine.change_coordinator(random.randint(0, 2))),
    ]
    if isinstance(machine, FailingInterleavings) and machine.stage.held:
        actions.append((5, lambda: machine.fail_to_write(ErrorCode.REQUEST_TIMED_OUT)))
    weights = [weight for weight, _ in actions]
    random.choices(actions, weights)[0][1]()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", [FaithfulInterleavings, FailingInterleavings])
def test_long_lives_of_groups(kind: type[Interleavings], seed: int) -> None:
    random, machine = Random(seed), kind()
    for _ in range(250):
        act(machine, random)
        machine.offsets_do_not_go_back()
        machine.offsets_are_what_the_log_says()
        machine.all_that_is_counted_is_there()
        machine.nobody_is_forgotten()
        if isinstance(machine, FaithfulInterleavings):
            machine.the_group_is_what_the_log_says()
    machine.teardown()
