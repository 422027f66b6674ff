"""What a follower does with one partition: it agrees with its leader, fetches, and pauses.

A follower's log may hold what its leader's does not: it had led itself, or had followed another.
Such records are cut off before anything is appended, where the histories of leader epochs part and
nowhere else (KIP-101, KIP-279): the follower's high watermark may lie below what was committed.

    fetch               each fetch says the epoch of the last record; a leader that knows better
                        answers where that epoch ended for it (KIP-595)
    ask for an epoch    before the first fetch, where brokers are older than that
    cut to the mark     a log without any epochs has nothing to compare
    ask for offsets     the leader has nothing at our offset, and says where it begins and ends

After an error the partition rests, longer each time; the others go on.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol

from odradek.kafka.replication.extent import Extent
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode

UNKNOWN = -1
FIRST_PAUSE_MS = 25


class EpochEnd(NamedTuple):
    """The offset behind the last of an epoch, which may be older than the one asked for."""

    epoch: int
    end_offset: int


class Epochs(Protocol):
    """Which leader epochs a log has seen."""

    @property
    def latest(self) -> int: ...

    def end_of(self, epoch: int, log_end_offset: int, /) -> tuple[int, int]: ...


class History(Extent, Protocol):
    """A log, as far as two of them are compared."""

    @property
    def epochs(self) -> Epochs: ...


class Step(Enum):
    """What is to be done next."""

    FETCH = "fetch"
    ASK_EPOCH = "ask for an epoch"
    CUT_TO_HIGH_WATERMARK = "cut to the high watermark"
    ASK_OFFSETS = "ask for offsets"


class Cut(NamedTuple):
    """Where a log is to end; if it is not the last cut, the leader is asked again."""

    offset: int
    is_last: bool = True


class Restart(NamedTuple):
    """Where a log is to begin anew: all that it has is older than what the leader has."""

    offset: int


@dataclass(slots=True, eq=False)
class Following:
    """One partition, as it is followed in one epoch of its leader."""

    where: TopicPartition
    topic_id: bytes
    leader_id: int
    leader_epoch: int
    step: Step = Step.FETCH
    not_before_ms: int = 0
    pause_ms: int = 0
    is_asked: bool = False  # Whether the fetch that is under way is about this epoch.
    is_in_sync: bool = False  # Whether it has all that its leader said is committed.

    def begin(self, log: History, *, knows_diverging: bool) -> None:
        """Whether to fetch at once, or to compare first."""
        self.step = first_step(log, knows_diverging=knows_diverging)

    def last_fetched_epoch(self, log: History) -> int:
        return log.epochs.latest

    def is_ready(self, now_ms: int) -> bool:
        return now_ms >= self.not_before_ms

    def succeeded(self) -> None:
        self.pause_ms = 0

    def hold_back(self, now_ms: int, pause_ms: int) -> None:
        """There was no error, but too much came of late."""
        self.not_before_ms = now_ms + pause_ms

    def failed(self, now_ms: int, pause_max_ms: int) -> None:
        """Rest a little; longer if this happens again, up to the time that the settings give."""
        self.pause_ms = min(pause_max_ms, max(FIRST_PAUSE_MS, 2 * self.pause_ms))
        self.not_before_ms = now_ms + self.pause_ms

    def refused(self, error: ErrorCode, now_ms: int, pause_max_ms: int) -> None:
        """The leader has answered with an error."""
        if error is ErrorCode.OFFSET_OUT_OF_RANGE:
            self.step = Step.ASK_OFFSETS
            return
        if error is ErrorCode.FENCED_LEADER_EPOCH:
            # There is a newer epoch: the controller is about to tell us who leads in it.
            self.pause_ms = pause_max_ms
        self.failed(now_ms, pause_max_ms)

    # Where the logs part

    def cut_for_high_watermark(self, log: History) -> Cut:
        self.step = Step.FETCH
        return Cut(log.high_watermark)

    def cut_for_epoch(self, log: History, answer: EpochEnd) -> Cut:
        """The leader said where it had the end of our last epoch, or of one before it."""
        cut = cut_at(log, answer)
        if cut.is_last:
            self.step = Step.FETCH
        return cut

    def cut_for_divergence(self, log: History, answer: EpochEnd) -> Cut:
        """The next fetch tells whether they agree now."""
        return cut_at(log, answer)

    def settle_offsets(self, log: History, start_offset: int, end_offset: int) -> Cut | Restart:
        """The leader said where its log begins and ends."""
        self.step = Step.FETCH
        if end_offset < log.end_offset:
            # It was elected though it was not in sync: what we have beyond it is lost.
            return Cut(end_offset)
        return Restart(start_offset) if start_offset > log.end_offset else Cut(log.end_offset)


def first_step(log: History, *, knows_diverging: bool) -> Step:
    if log.epochs.latest == UNKNOWN:
        return Step.CUT_TO_HIGH_WATERMARK
    return Step.FETCH if knows_diverging else Step.ASK_EPOCH


def cut_at(log: History, leaders: EpochEnd) -> Cut:
    """Where to cut, given how far a leader's epoch goes in the leader's log."""
    end_offset = log.end_offset
    if leaders.end_offset == UNKNOWN:
        return Cut(min(log.high_watermark, end_offset))  # It knows none of our epochs.
    if leaders.epoch == UNKNOWN:
        return Cut(min(leaders.end_offset, end_offset))  # It is too old to name an epoch.
    epoch, own_end_offset = log.epochs.end_of(leaders.epoch, end_offset)
    if own_end_offset == UNKNOWN:
        return Cut(min(leaders.end_offset, end_offset))
    if epoch != leaders.epoch:
        # Ours goes back further still: what follows the older epoch is certainly not the leader's.
        return Cut(min(own_end_offset, end_offset), is_last=False)
    return Cut(min(own_end_offset, leaders.end_offset, end_offset))
