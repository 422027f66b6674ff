"""Following one partition: where two logs part, and what is done about it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from odradek.kafka.replication.follower import (
    FIRST_PAUSE_MS,
    UNKNOWN,
    Cut,
    EpochEnd,
    Following,
    Restart,
    Step,
    cut_at,
)
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode

PAUSE_MAX_MS = 1000


@dataclass
class Starts:
    """Leader epochs as (epoch, first offset)."""

    starts: list[tuple[int, int]]

    @property
    def latest(self) -> int:
        return self.starts[-1][0] if self.starts else UNKNOWN

    def end_of(self, epoch: int, log_end_offset: int, /) -> tuple[int, int]:
        older = [it for it in self.starts if it[0] <= epoch]
        newer = [start for known, start in self.starts if known > epoch]
        if not self.starts or epoch > self.latest:
            return UNKNOWN, UNKNOWN
        return (older[-1][0] if older else epoch), (newer[0] if newer else log_end_offset)


@dataclass
class Past:
    """A log's history."""

    end_offset: int = 100
    high_watermark: int = 50
    start_offset: int = 0
    epochs: Starts = field(default_factory=lambda: Starts([(1, 0), (3, 60)]))


def following() -> Following:
    return Following(TopicPartition("t", 0), bytes(16), leader_id=2, leader_epoch=5)


def step_of(it: Following) -> Step:
    return it.step


def begun(log: Past, *, knows_diverging: bool) -> Step:
    it = following()
    it.begin(log, knows_diverging=knows_diverging)
    return it.step


def test_one_that_knows_epochs_fetches_at_once_and_says_its_last() -> None:
    log = Past()
    assert begun(log, knows_diverging=True) is Step.FETCH
    assert following().last_fetched_epoch(log) == 3


def test_with_older_brokers_it_asks_before_it_fetches() -> None:
    assert begun(Past(), knows_diverging=False) is Step.ASK_EPOCH


def test_a_log_without_epochs_is_cut_to_its_high_watermark() -> None:
    log, it = Past(epochs=Starts([])), following()
    it.begin(log, knows_diverging=True)
    assert step_of(it) is Step.CUT_TO_HIGH_WATERMARK
    assert it.cut_for_high_watermark(log) == Cut(50)
    assert step_of(it) is Step.FETCH


@pytest.mark.parametrize(
    ("answer", "cut"),
    [
        (EpochEnd(3, 80), Cut(80)),  # The leader's epoch 3 ended before ours did.
        (EpochEnd(3, 120), Cut(100)),  # It goes on where we end.
        (EpochEnd(1, 40), Cut(40)),  # Of epoch 1 we have more, and all of 3.
        (EpochEnd(1, 70), Cut(60)),  # Of epoch 1 it has more.
        (EpochEnd(2, 65), Cut(60, is_last=False)),  # Epoch 2 is unknown here: ask again below it.
        (EpochEnd(UNKNOWN, UNKNOWN), Cut(50)),
        (EpochEnd(UNKNOWN, 30), Cut(30)),
        (EpochEnd(4, 90), Cut(90)),
    ],
)
def test_a_log_is_cut_where_the_epochs_part(answer: EpochEnd, cut: Cut) -> None:
    assert cut_at(Past(), answer) == cut


def test_what_was_committed_is_kept_though_the_high_watermark_lags() -> None:
    """The follower's mark is at 50, but both have the same records up to 100."""
    assert cut_at(Past(), EpochEnd(3, 100)).offset == 100


def test_after_a_cut_that_is_not_the_last_it_asks_again() -> None:
    log, it = Past(), following()
    it.begin(log, knows_diverging=False)
    assert not it.cut_for_epoch(log, EpochEnd(2, 65)).is_last
    assert step_of(it) is Step.ASK_EPOCH
    log = Past(end_offset=60, epochs=Starts([(1, 0)]))
    assert it.cut_for_epoch(log, EpochEnd(1, 55)) == Cut(55)
    assert step_of(it) is Step.FETCH


def test_out_of_range_it_asks_where_the_leader_begins_and_ends() -> None:
    it = following()
    it.refused(ErrorCode.OFFSET_OUT_OF_RANGE, 0, PAUSE_MAX_MS)
    assert step_of(it) is Step.ASK_OFFSETS
    assert it.is_ready(0)


@pytest.mark.parametrize(
    ("start_offset", "end_offset", "wanted"),
    [
        (0, 80, Cut(80)),  # Elected though it was not in sync.
        (150, 200, Restart(150)),  # All that we have is gone there.
        (20, 200, Cut(100)),  # Nothing to cut: it has come into range meanwhile.
        (100, 200, Cut(100)),
    ],
)
def test_offsets_of_the_leader_settle_where_to_go_on(
    start_offset: int, end_offset: int, wanted: Cut | Restart
) -> None:
    it = following()
    it.step = Step.ASK_OFFSETS
    assert it.settle_offsets(Past(), start_offset, end_offset) == wanted
    assert step_of(it) is Step.FETCH


def test_errors_pause_one_partition_longer_each_time_up_to_the_limit() -> None:
    it, pauses = following(), []
    for _ in range(8):
        it.refused(ErrorCode.UNKNOWN_LEADER_EPOCH, 1000, PAUSE_MAX_MS)
        pauses.append(it.not_before_ms - 1000)
        assert not it.is_ready(it.not_before_ms - 1)
        assert it.is_ready(it.not_before_ms)
    assert pauses[:3] == [FIRST_PAUSE_MS, 2 * FIRST_PAUSE_MS, 4 * FIRST_PAUSE_MS]
    assert pauses[-1] == PAUSE_MAX_MS
    it.succeeded()
    it.refused(ErrorCode.NOT_LEADER_OR_FOLLOWER, 0, PAUSE_MAX_MS)
    assert it.not_before_ms == FIRST_PAUSE_MS


def test_one_that_is_fenced_waits_for_the_controller() -> None:
    it = following()
    it.refused(ErrorCode.FENCED_LEADER_EPOCH, 0, PAUSE_MAX_MS)
    assert it.not_before_ms == PAUSE_MAX_MS
