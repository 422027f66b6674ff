"""Group coordinators: the shards of `__consumer_offsets` that this broker leads.

What a shard wants done is done here: answers go to who waits, batches to the log, and its alarm
is set. A group whose shard is elsewhere is answered by a shard that is not loaded, so that every
kind of request hears NOT_COORDINATOR in its own words.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from functools import partial
from typing import NamedTuple, TypeVar
from uuid import UUID

from odradek.kafka.admin.names import CONSUMER_OFFSETS
from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.partition import Partition
from odradek.kafka.broker.shards import Shards, ShardShell
from odradek.kafka.broker.shards_clock import Clock
from odradek.kafka.broker.shards_line import Outcome, Wanted
from odradek.kafka.coordinator.group_effects import Answer, Append, Asker, Effects
from odradek.kafka.coordinator.group_figures import GroupFigures
from odradek.kafka.coordinator.groups_desk import Limits
from odradek.kafka.coordinator.shard import Shard, Status
from odradek.kafka.storage.appending import Appended
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.storage.producers import Verification
from odradek.kafka.wire.batch import Batch
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.schema import Struct
from odradek.runtime.disk import Buffer

Asked = TypeVar("Asked")
Response = TypeVar("Response", bound=Struct)
Handle = Callable[[Shard, Asker, Asked, int], Effects]
Report = Callable[[Outcome], object]
ALL_IN_SYNC = -1


class End(NamedTuple):
    """How a producer's transaction ended."""

    producer_id: int
    is_commit: bool


class GroupShard(ShardShell):
    """The groups of one partition."""

    def __init__(self, broker: Broker, partition: Partition, clock: Clock, shard: Shard) -> None:
        super().__init__(broker, partition, clock, broker.settings.offsets_load_buffer_size)
        self.shard = shard
        self._codec = Codec(broker.settings.offsets_topic_compression_codec)
        self._expiry: asyncio.TimerHandle | None = None

    async def ask(
        self,
        handle: Handle[Asked],
        message: Asked,
        version: int,
        kind: type[Response],
        verification: Verification | None = None,
    ) -> Response:
        """Have a request handled, and wait for its answer."""
        future: asyncio.Future[Struct] = self._clock.loop.create_future()
        now_ms = self._clock.now_ms()
        effects = handle(self.shard, Asker(future, version), message, now_ms)
        self._carry_out(effects, now_ms, verification)
        response = await future
        assert isinstance(response, kind)
        return response

    def write_marker(self, batch: Buffer, end: End, timeout_ms: int, report: Report) -> None:
        """End a transaction; reported when its offsets count, or never were."""

        def appended(outcome: Outcome) -> None:
            if isinstance(outcome, Appended):
                now_ms = self._clock.now_ms()
                self._carry_out(self.shard.handle_marker(*end, now_ms), now_ms)
            report(outcome)

        self._line.append([Wanted(batch, timeout_ms, appended)], self._clock.now_ms())

    def forget_partitions(self, gone: Collection[TopicPartition]) -> None:
        now_ms = self._clock.now_ms()
        self._carry_out(self.shard.forget_partitions(gone, now_ms), now_ms)

    # The life of a shard

    def take(self, batch: Batch) -> None:
        self.shard.load_batch(batch, self._clock.now_ms())

    def begin(self) -> None:
        now_ms = self._clock.now_ms()
        self._carry_out(self.shard.finish_loading(now_ms), now_ms)
        self._expire_later(self._broker.random.random())

    def tick(self) -> None:
        now_ms = self._clock.now_ms()
        self._carry_out(self.shard.tick(now_ms), now_ms)

    def unload(self) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
        answer_all(self.shard.unload().answers)

    def _expire_later(self, part: float = 1.0) -> None:
        """Look for old offsets after an interval, or at first a part of it: not all at once."""
        interval_s = self._broker.settings.offsets_retention_check_interval_ms / 1000
        expire = self._broker.tasks.guard("offsets retention", self._expire)
        self._expiry = self._clock.loop.call_later(interval_s * part, expire)

    def _expire(self) -> None:
        now_ms = self._clock.now_ms()
        self._carry_out(self.shard.expire_offsets(now_ms), now_ms)
        self._expire_later()

    # What a shard wants done

    def _carry_out(
        self, effects: Effects, now_ms: int, verification: Verification | None = None
    ) -> None:
        answers, appends, deadline_ms = effects
        answer_all(answers)
        self._alarm.set(deadline_ms)
        if appends:
            wanted = [self._wanted(each, verification) for each in appends]
            self._line.append(wanted, now_ms)

    def _wanted(self, append: Append, verification: Verification | None) -> Wanted:
        settings = self._broker.settings
        return Wanted(
            append.batch(self._codec),
            settings.offsets_commit_timeout_ms,
            partial(self._appended, append.number),
            settings.offsets_commit_required_acks == ALL_IN_SYNC,
            verification if append.envelope.is_transactional else None,
        )

    def _appended(self, number: int, outcome: Outcome) -> None:
        now_ms = self._clock.now_ms()
        if isinstance(outcome, ErrorCode):
            effects = self.shard.append_failed(number, outcome, now_ms)
        else:
            effects = self.shard.appended(number, outcome.first_offset, now_ms)
        self._carry_out(effects, now_ms)


def answer_all(answers: Collection[Answer]) -> None:
    for token, response in answers:
        assert isinstance(token, asyncio.Future)
        if not token.done():  # Who asked may be gone: the broker stops.
            token.set_result(response)


class GroupShards(Shards[GroupShard]):
    """All groups that this broker coordinates."""

    def __init__(self, broker: Broker, clock: Clock) -> None:
        super().__init__(broker, clock, CONSUMER_OFFSETS)
        self.figures = GroupFigures()
        self._elsewhere = self._new_shard()
        self._elsewhere.unload()

    def make(self, partition: Partition) -> GroupShard:
        return GroupShard(self._broker, partition, self._clock, self._new_shard())

    def _new_shard(self) -> Shard:
        settings = self._broker.settings
        return Shard(Limits.of(settings, settings), self._new_uuid, self.figures)

    def _new_uuid(self) -> str:
        return str(UUID(int=self._broker.random.getrandbits(128), version=4))

    def shard_of(self, group_id: str) -> Shard:
        """Who says something of a group."""
        found = self.find(group_id)
        return self._elsewhere if found is None else found.shard

    async def ask(
        self,
        group_id: str,
        handle: Handle[Asked],
        message: Asked,
        version: int,
        kind: type[Response],
        verification: Verification | None = None,
    ) -> Response:
        """Have a request handled by the coordinator of a group, if it is here."""
        found = self.find(group_id)
        if found is not None:
            return await found.ask(handle, message, version, kind, verification)
        (answer,) = handle(self._elsewhere, Asker(None, version), message, 0).answers
        assert isinstance(answer.response, kind)
        return answer.response

    @property
    def is_loading(self) -> bool:
        return any(each.shard.status is Status.LOADING for each in self.here.values())

    def forget_partitions(self, gone: Collection[TopicPartition]) -> None:
        """Topics were deleted: their offsets mean nothing any more."""
        if gone:
            for shell in self.here.values():
                shell.forget_partitions(gone)
