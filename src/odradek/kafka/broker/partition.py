"""A partition on this broker: its log, its place in the cluster, and who waits for it.

All that moves the end or the high watermark goes through here, so that who waits is told. A
partition with one replica is committed as soon as it is appended; with more, the high watermark
follows what `replication/leader.py` says.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odradek.kafka.broker.meters import TopicMeter
from odradek.kafka.replication.leader import Leadership
from odradek.kafka.replication.selector import RACK_AWARE, Candidate, nearest
from odradek.kafka.storage.appending import (
    Appended,
    Placed,
    append,
    append_as_follower,
    place,
    take,
)
from odradek.kafka.storage.epochs import UNKNOWN, EpochEnd
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.storage.producers import Verification
from odradek.kafka.storage.refusal import Refusal
from odradek.kafka.storage.retention import raise_start_offset
from odradek.kafka.storage.validate import Origin
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.leader_and_isr import LeaderAndIsrPartitionState
from odradek.runtime.disk import Buffer

if TYPE_CHECKING:
    from odradek.kafka.broker.metadata import Metadata
    from odradek.kafka.broker.parked import Watcher
    from odradek.kafka.settings import BrokerSettings, TopicSettings

NOBODY = -1


@dataclass(slots=True, eq=False)
class Surroundings:
    """What partitions must know of their broker, and of the rest of the cluster."""

    broker_id: int
    metadata: Metadata
    settings: Callable[[], BrokerSettings]
    topic_settings: Callable[[str], TopicSettings]
    clock: Callable[[], int]
    steady_clock: Callable[[], int]
    isr_wanted: Callable[[Partition], None] | None = None  # Carries a wish to the controller.

    def is_alive(self, broker_id: int) -> bool:
        return broker_id in self.metadata.brokers


class Partition:
    """One replica that lives here."""

    __slots__ = (
        "_surroundings",
        "_uncommitted",
        "adding",
        "controller_epoch",
        "followed_isr",
        "leader_epoch",
        "leader_id",
        "leadership",
        "log",
        "meter",
        "partition_epoch",
        "removing",
        "replicas",
        "tenure",
        "topic_id",
        "watchers",
        "where",
    )

    def __init__(
        self, log: Log, topic_id: bytes, meter: TopicMeter, surroundings: Surroundings
    ) -> None:
        self.where: TopicPartition = log.where
        self.topic_id = topic_id
        self.log = log
        self.meter = meter
        self.controller_epoch = UNKNOWN
        self.leader_id = NOBODY
        self.leader_epoch = UNKNOWN
        self.partition_epoch = UNKNOWN
        self.replicas: tuple[int, ...] = ()
        self.adding: tuple[int, ...] = ()
        self.removing: tuple[int, ...] = ()
        self.followed_isr: tuple[int, ...] = ()  # What the controller says, while another leads.
        self.leadership: Leadership | None = None  # While this broker leads.
        # Grows whenever another leads. While it stands, epochs may pass, but nothing is cut off.
        self.tenure = 0
        self.watchers: dict[Watcher, None] = {}
        self._surroundings = surroundings
        # What each append took, until it is committed; only where there are followers.
        self._uncommitted: deque[tuple[int, int]] = deque()

    def __repr__(self) -> str:
        return f"Partition({self.where}, leader {self.leader_id}, epoch {self.leader_epoch})"

    @property
    def is_leader(self) -> bool:
        return self.leadership is not None

    @property
    def is_alone(self) -> bool:
        """Whether it leads, and nobody follows: what is appended is committed at once."""
        return self.leadership is not None and not self.leadership.followers

    @property
    def isr(self) -> tuple[int, ...]:
        if self.leadership is None:
            return self.followed_isr
        return tuple(each for each in self.replicas if each in self.leadership.isr)

    @property
    def min_isr(self) -> int:
        """How many must be in sync; never more than there are replicas."""
        if len(self.replicas) < 2:
            return 1
        wanted = self._surroundings.topic_settings(self.where.topic).min_insync_replicas
        return min(wanted, len(self.replicas))

    @property
    def is_under_min_isr(self) -> bool:
        return self.leadership is not None and len(self.leadership.isr) < self.min_isr

    @property
    def is_under_replicated(self) -> bool:
        """Whether replicas are out of sync, other than those that are just being added."""
        if self.leadership is None:
            return False
        count = sum(it not in self.adding for it in self.replicas)
        return len(self.leadership.isr) < count

    def epoch_error(self, current_leader_epoch: int) -> ErrorCode:
        """What is wrong with the epoch that a request believes in (KIP-320)."""
        if current_leader_epoch < 0 or current_leader_epoch == self.leader_epoch:
            return ErrorCode.NONE
        if current_leader_epoch < self.leader_epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        return ErrorCode.UNKNOWN_LEADER_EPOCH

    # Who leads

    def is_old_news(self, state: LeaderAndIsrPartitionState) -> bool:
        """Whether the controller has answered us meanwhile, with what was written after this."""
        is_same_epoch = state.leader_epoch == self.leader_epoch
        return is_same_epoch and state.partition_epoch < self.partition_epoch

    def lead(self, state: LeaderAndIsrPartitionState) -> None:
        """Lead from now on, or go on to lead with other replicas."""
        now_ms, end_offset = self._surroundings.steady_clock(), self.log.end_offset
        leadership = self.leadership
        if leadership is None or leadership.epoch != state.leader_epoch:
            broker_id = self._surroundings.broker_id
            start_offset = end_offset
            leadership = Leadership(broker_id, state.leader_epoch, start_offset, state.replicas)
            self._uncommitted.clear()
        if state.partition_epoch == self.partition_epoch and leadership.isr == set(state.isr):
            leadership.keep(state.replicas)
        else:
            leadership.assign(state.replicas, state.isr, end_offset, now_ms)
        self.leadership = leadership
        self._take_state(state)
        self.advance()
        self.tell_changed()

    def follow(self, state: LeaderAndIsrPartitionState) -> None:
        """Another leads, or nobody."""
        self.leadership = None
        self.tenure += 1
        self.followed_isr = tuple(state.isr)
        self._uncommitted.clear()
        self._take_state(state)
        self.tell_changed()

    def _take_state(self, state: LeaderAndIsrPartitionState) -> None:
        self.controller_epoch = state.controller_epoch
        self.leader_id = state.leader
        self.leader_epoch = state.leader_epoch
        self.partition_epoch = state.partition_epoch
        self.replicas = tuple(state.replicas)
        self.adding = tuple(state.adding_replicas)
        self.removing = tuple(state.removing_replicas)

    # Appending, and what follows from it

    def append(
        self,
        records: Buffer,
        now_ms: int,
        origin: Origin = Origin.CLIENT,
        verification: Verification | None = None,
    ) -> Appended | Refusal:
        """Append as leader. Who waits for it is told."""
        appended = append(self.log, records, self.leader_epoch, now_ms, origin, verification)
        if isinstance(appended, Appended) and not appended.is_duplicate:
            self._grown(appended, len(records))
        return appended

    def place(
        self, records: Buffer, now_ms: int, verification: Verification | None
    ) -> Placed | Appended | Refusal:
        """Begin what `append` does, up to the write..."""
        return place(self.log, records, self.leader_epoch, now_ms, verification=verification)

    def take(self, placed: Placed, size: int) -> Appended:
        """...and end it, once that is done."""
        appended = take(placed)
        self._grown(appended, size)
        return appended

    def _grown(self, appended: Appended, size: int) -> None:
        log, meter, leadership = self.log, self.meter, self.leadership
        meter.bytes_in += size
        meter.messages_in += appended.last_offset - appended.first_offset + 1
        if (
            leadership is not None
            and not leadership.followers
            and (not log.settings.is_flushed_by_count or log.promised_offset == log.end_offset)
        ):
            log.raise_high_watermark(log.end_offset)
            if self.watchers:
                self._tell(size, size)
        else:
            self._uncommitted.append((log.end_offset, size))
            self._tell(size, 0)
            self.advance()

    def fetched_by(self, broker_id: int, offset: int, start_offset: int, now_ms: int) -> bool:
        """A follower has all that is before an offset; False if it is none of the replicas."""
        leadership = self.leadership
        follower = leadership.followers.get(broker_id) if leadership else None
        if leadership is None or follower is None:
            return False
        old_start_offset = follower.start_offset
        follower.fetched(offset, start_offset, self.log.end_offset, now_ms)
        if start_offset != old_start_offset:
            self.tell_changed_condition()
        self.advance()
        if leadership.may_join(broker_id, self.log.high_watermark, self._surroundings.is_alive):
            self._want_isr(leadership.isr | {broker_id})
        return True

    def advance(self) -> None:
        """Let the high watermark follow the replicas, and our own disk where that was promised."""
        leadership = self.leadership
        if leadership is None or leadership.is_held_at(self.log.high_watermark):
            return
        around = self._surroundings
        lag_max_ms = around.settings().replica_lag_time_max_ms if leadership.followers else 0
        offset = leadership.high_watermark(
            self.log.promised_offset,
            self.min_isr,
            lag_max_ms,
            around.steady_clock(),
            around.is_alive,
        )
        if offset is not None and self.log.raise_high_watermark(offset):
            self._tell(0, self._take_committed())

    # Who is in sync

    def drop_laggards(self) -> frozenset[int]:
        """Ask for an ISR without those that have fallen behind; who they are."""
        leadership, around = self.leadership, self._surroundings
        if leadership is None or len(leadership.isr) < 2:
            return frozenset()
        lag_max_ms = around.settings().replica_lag_time_max_ms
        late = leadership.out_of_sync(self.log.end_offset, around.steady_clock(), lag_max_ms)
        if late:
            self._want_isr(leadership.isr - late)
        return late

    def _want_isr(self, isr: frozenset[int]) -> None:
        if self._surroundings.isr_wanted is not None:
            assert self.leadership is not None
            self.leadership.ask(isr)
            self._surroundings.isr_wanted(self)

    def confirm_isr(self, isr: Iterable[int], partition_epoch: int) -> None:
        """The controller has written down who is in sync."""
        assert self.leadership is not None
        self.leadership.confirm(isr)
        self.partition_epoch = partition_epoch
        self.advance()
        self.tell_changed_condition()

    def nearest_replica(self, rack: str, offset: int) -> int | None:
        """Who had better serve a consumer of this rack; None if we are the one (KIP-392)."""
        leadership, around = self.leadership, self._surroundings
        if leadership is None or around.settings().replica_selector_class != RACK_AWARE:
            return None
        brokers, now_ms = around.metadata.brokers, around.steady_clock()
        racks = {broker_id: it.rack for broker_id, it in brokers.items()}
        others = [
            Candidate(broker_id, racks[broker_id], it.end_offset, now_ms - it.caught_up_ms)
            for broker_id, it in leadership.followers.items()
            if broker_id in leadership.isr
            and broker_id in racks
            and it.start_offset <= offset <= it.end_offset
        ]
        own_id = around.broker_id
        return nearest(rack, Candidate(own_id, racks.get(own_id), self.log.end_offset), others)

    # Following

    def append_as_follower(self, records: Buffer, now_ms: int) -> int:
        """Append what the leader sent; how many bytes it was."""
        size = len(records)
        append_as_follower(self.log, records, now_ms)
        self.meter.replication_bytes_in += size
        return size

    def follow_offsets(self, high_watermark: int, start_offset: int) -> None:
        """Let our high watermark and our start be where the leader's are, as far as we reach."""
        log = self.log
        if log.raise_high_watermark(high_watermark):
            self.tell_changed()  # Consumers that read here (KIP-392).
        if start_offset > log.start_offset:
            raise_start_offset(log, min(start_offset, log.high_watermark))
            self.tell_changed()

    def _take_committed(self) -> int:
        count, high_watermark = 0, self.log.high_watermark
        while self._uncommitted and self._uncommitted[0][0] <= high_watermark:
            count += self._uncommitted.popleft()[1]
        return count or 1  # Something moved, even if it was here before we led.

    def _tell(self, appended: int, committed: int) -> None:
        for watcher in tuple(self.watchers):
            if appended:
                watcher.appended(appended)
            if committed:
                watcher.committed(committed)

    def tell_changed(self) -> None:
        """Something is new that nobody could count: let all look."""
        for watcher in tuple(self.watchers):
            watcher.changed()

    def tell_changed_condition(self) -> None:
        """A condition may hold now; there are no more bytes than before."""
        for watcher in tuple(self.watchers):
            watcher.committed(0)

    def low_watermark(self) -> int:
        assert self.leadership is not None
        is_alive = self._surroundings.is_alive
        return self.leadership.low_watermark(self.log.start_offset, is_alive)

    # Epochs

    def end_of_epoch(self, epoch: int) -> EpochEnd:
        """Where a leader's epoch ended.

        A leader's own epoch is in the file once something was appended in it. Until then it
        begins, and the one before it ends, where the log does.
        """
        epochs, end_offset = self.log.epochs, self.log.end_offset
        latest = epochs.latest
        if not self.is_leader or latest == self.leader_epoch:
            return epochs.end_of(epoch, end_offset)
        if epoch == self.leader_epoch:
            return EpochEnd(epoch, end_offset)
        if latest <= epoch < self.leader_epoch:
            return EpochEnd(epoch if latest == UNKNOWN else latest, end_offset)
        return epochs.end_of(epoch, end_offset)
