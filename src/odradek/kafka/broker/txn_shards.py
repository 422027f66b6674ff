"""Transaction coordinators: the shards of `__transaction_state` that this broker leads.

What a shard wants done is done here: records to its partition, answers to who waits, markers to
the leaders of other partitions. An id whose shard is elsewhere is answered by one that is not
loaded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import partial

from odradek.kafka.admin.names import TRANSACTION_STATE
from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.partition import Partition
from odradek.kafka.broker.shards import Shards, ShardShell
from odradek.kafka.broker.shards_clock import Clock
from odradek.kafka.broker.shards_line import Outcome, Wanted
from odradek.kafka.broker.txn_markers import MarkerPost
from odradek.kafka.coordinator.transactions import TransactionShard
from odradek.kafka.coordinator.txn_effects import Answer, Append, Markers, Token
from odradek.kafka.coordinator.txn_settings import TransactionShardSettings
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.batch import Batch
from odradek.kafka.wire.batch_writer import write_batch
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.records import Record, read_records
from odradek.runtime.disk import Buffer
from odradek.runtime.errors import ProtocolError

Handle = Callable[[TransactionShard, Token, int], None]


class TxnShard(ShardShell):
    """The transactions of one partition."""

    def __init__(
        self,
        broker: Broker,
        partition: Partition,
        clock: Clock,
        shard: TransactionShard,
        post: MarkerPost,
    ) -> None:
        load_bytes = broker.settings.transaction_state_log_load_buffer_size
        super().__init__(broker, partition, clock, load_bytes)
        self.shard = shard
        self._post = post

    async def ask(self, handle: Handle) -> Answer:
        """Have a request handled, and wait for its answer."""
        future: asyncio.Future[Answer] = self._clock.loop.create_future()
        handle(self.shard, future, self._clock.now_ms())
        self._carry_out()
        return await future

    # The life of a shard

    def take(self, batch: Batch) -> None:
        if batch.is_control:
            return
        for record in read_records(batch):
            if record.key is None:
                raise ProtocolError(f"the record at offset {record.offset} has no key")
            self.shard.apply(record.key, record.value)

    def begin(self) -> None:
        self.shard.loaded(self._clock.now_ms())
        self._carry_out()

    def tick(self) -> None:
        self.shard.tick(self._clock.now_ms())
        self._carry_out()

    def unload(self) -> None:
        self.shard.unload()
        answer_all(self.shard.take_effects().answers)

    # What a shard wants done

    def _carry_out(self) -> None:
        effects = self.shard.take_effects()
        answer_all(effects.answers)
        if effects.appends:
            self._line.append(map(self._wanted, effects.appends), self._clock.now_ms())
        for markers in effects.markers:
            self._send(markers)
        self._alarm.set(self.shard.next_deadline_ms)

    def _wanted(self, append: Append) -> Wanted:
        report = partial(self._appended, append.number)
        return Wanted(batch_of(append), append.timeout_ms, report)

    def _appended(self, number: int, outcome: Outcome) -> None:
        now_ms = self._clock.now_ms()
        if isinstance(outcome, ErrorCode):
            self.shard.append_failed(number, outcome, now_ms)
        else:
            self.shard.appended(number, now_ms)
        self._carry_out()

    def _send(self, markers: Markers) -> None:
        def answered(codes: dict[TopicPartition, ErrorCode]) -> None:
            self.shard.markers_answered(markers.number, codes, self._clock.now_ms())
            self._carry_out()

        def gone(partitions: list[TopicPartition]) -> None:
            self.shard.partitions_gone(markers.number, partitions, self._clock.now_ms())
            self._carry_out()

        self._post.send(markers, answered, gone)


def batch_of(append: Append) -> Buffer:
    return write_batch(
        Record(offset, append.timestamp_ms, key, value)
        for offset, (key, value) in enumerate(append.records)
    )


def answer_all(answers: Iterable[Answer]) -> None:
    for answer in answers:
        assert isinstance(answer.token, asyncio.Future)
        if not answer.token.done():  # Who asked may be gone: the broker stops.
            answer.token.set_result(answer)


class TxnShards(Shards[TxnShard]):
    """All transactions that this broker coordinates."""

    def __init__(self, broker: Broker, clock: Clock) -> None:
        super().__init__(broker, clock, TRANSACTION_STATE)
        self._post = MarkerPost(broker)
        self._elsewhere = self._new_shard(0)
        self._elsewhere.unload()

    def make(self, partition: Partition) -> TxnShard:
        self._broker.producer_ids.prefetch()
        shard = self._new_shard(partition.leader_epoch)
        return TxnShard(self._broker, partition, self._clock, shard, self._post)

    def _new_shard(self, coordinator_epoch: int) -> TransactionShard:
        settings = shard_settings(self._broker)
        return TransactionShard(coordinator_epoch, self._broker.producer_ids, settings)

    def shard_of(self, transactional_id: str) -> TransactionShard:
        """Who says something of an id."""
        found = self.find(transactional_id)
        return self._elsewhere if found is None else found.shard

    async def ask(self, transactional_id: str, handle: Handle) -> Answer:
        """Have a request handled by the coordinator of an id, if it is here."""
        found = self.find(transactional_id)
        if found is not None:
            return await found.ask(handle)
        handle(self._elsewhere, transactional_id, 0)
        (answer,) = self._elsewhere.take_effects().answers
        return answer

    def close(self) -> None:
        super().close()
        self._post.close()


def shard_settings(broker: Broker) -> TransactionShardSettings:
    given = broker.settings
    return TransactionShardSettings(
        timeout_max_ms=given.transaction_max_timeout_ms,
        id_expiration_ms=given.transactional_id_expiration_ms,
        abort_interval_ms=given.transaction_abort_timed_out_transaction_cleanup_interval_ms,
        expire_interval_ms=given.transaction_remove_expired_transaction_cleanup_interval_ms,
        request_timeout_ms=given.request_timeout_ms,
        batch_bytes_max=broker.topic_settings(TRANSACTION_STATE).max_message_bytes,
    )
