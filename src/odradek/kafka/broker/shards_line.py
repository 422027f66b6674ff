"""What a coordinator has appended, until it is safe: each append is reported once.

Reports come in the order of the log, for what one append says may rest on another. Only who has
waited for too long steps out of the line. All appends of one call are written before any of them
is reported, since a report may bring about further ones.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.partition import Partition
from odradek.kafka.storage.appending import Appended
from odradek.kafka.storage.producers import Verification
from odradek.kafka.storage.refusal import Refusal
from odradek.kafka.storage.validate import Origin
from odradek.kafka.wire.errors import ErrorCode
from odradek.runtime.disk import Buffer

Outcome = Appended | ErrorCode


@dataclass(slots=True, eq=False)
class Wanted:
    """A batch to be appended, who wants to hear how it went, and how far it is."""

    batch: Buffer
    timeout_ms: int
    report: Callable[[Outcome], object]
    is_for_all: bool = True  # Safe means: on all replicas that are in sync.
    verification: Verification | None = None
    appended: Appended | Refusal | None = None
    is_flushing: bool = False
    timer: asyncio.TimerHandle | None = None


class Line:
    """The appends of one shard to its partition."""

    def __init__(self, broker: Broker, partition: Partition) -> None:
        self._broker = broker
        self._partition = partition
        self._waiting: deque[Wanted] = deque()
        self._is_busy = False

    def append(self, wanted: Iterable[Wanted], now_ms: int) -> None:
        """Write all of them, in this order; then report what is safe."""
        was_busy, self._is_busy = self._is_busy, True
        for each in wanted:
            self._write(each, now_ms)
        self._is_busy = was_busy
        self._report()

    def close(self) -> None:
        """The shard is not ours any more: whoever still waits hears that another leads."""
        left, self._waiting = self._waiting, deque()
        self._partition.watchers.pop(self, None)
        for each in left:
            stop_timer(each)
            each.report(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    # What the partition tells

    def appended(self, count: int) -> None: ...

    def committed(self, count: int) -> None:
        self._report()

    def changed(self) -> None:
        self._report()

    # Inside

    def _write(self, wanted: Wanted, now_ms: int) -> None:
        partition = self._partition
        appended = wanted.appended = self._broker.partitions.append(
            partition,
            wanted.batch,
            now_ms,
            is_for_all=wanted.is_for_all,
            origin=Origin.COORDINATOR,
            verification=wanted.verification,
        )
        self._waiting.append(wanted)
        log = partition.log
        is_counted = log.settings.is_flushed_by_count and isinstance(appended, Appended)
        if is_counted and log.unflushed_messages >= log.settings.flush_messages:
            wanted.is_flushing = True
            name = f"flush for the coordinator of {partition.where}"
            self._broker.tasks.start(name, self._flush(wanted), may_end=True)

    async def _flush(self, wanted: Wanted) -> None:
        if not await self._broker.partitions.flushes.flush(self._partition):
            wanted.appended = Refusal(ErrorCode.KAFKA_STORAGE_ERROR)
        wanted.is_flushing = False
        self._report()

    def _report(self) -> None:
        """Report from the first on, as far as something is known."""
        if self._is_busy:
            return
        self._is_busy = True
        while self._waiting and (outcome := self._outcome(self._waiting[0])) is not None:
            first = self._waiting.popleft()
            stop_timer(first)
            first.report(outcome)
        self._is_busy = False
        self._watch()

    def _outcome(self, wanted: Wanted) -> Outcome | None:
        appended, leadership = wanted.appended, self._partition.leadership
        if isinstance(appended, Refusal):
            return appended.code
        if appended is None or wanted.is_flushing:
            return None
        if not wanted.is_for_all:
            return appended
        if leadership is None:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if self._partition.log.high_watermark <= appended.last_offset:
            return None
        if len(leadership.maximal_isr) < self._partition.min_isr:
            return ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
        return appended

    def _watch(self) -> None:
        """Those that are left wait for the partition, each for its time."""
        if not self._waiting:
            self._partition.watchers.pop(self, None)
            return
        self._partition.watchers[self] = None
        loop = asyncio.get_running_loop()
        for each in reversed(self._waiting):
            if each.timer is not None:
                break
            expire = self._broker.tasks.guard("an append of a coordinator", self._expire)
            each.timer = loop.call_later(each.timeout_ms / 1000, expire, each)

    def _expire(self, wanted: Wanted) -> None:
        self._waiting.remove(wanted)
        wanted.report(ErrorCode.REQUEST_TIMED_OUT)
        self._report()


def stop_timer(wanted: Wanted) -> None:
    if wanted.timer is not None:
        wanted.timer.cancel()
