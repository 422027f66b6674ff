"""Markers into the partitions that this broker leads: a transaction's end becomes visible.

A marker counts when all in-sync replicas have it. One for `__consumer_offsets` goes through the
shard of its groups, whose offsets it decides upon.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from odradek.kafka.admin.names import CONSUMER_OFFSETS
from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.group_shards import End
from odradek.kafka.broker.partition import Partition
from odradek.kafka.broker.shards_line import Line, Outcome, Wanted
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.control import Marker, MarkerType, write_marker
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.write_txn_markers import WritableTxnMarker
from odradek.runtime.disk import Buffer

Codes = dict[TopicPartition, ErrorCode]


def write_markers(
    broker: Broker, wanted: WritableTxnMarker, done: Callable[[Codes], object]
) -> None:
    """Write one marker into all its partitions; `done` hears of all, maybe before this returns."""
    partitions = [
        TopicPartition(topic.name, index)
        for topic in wanted.topics
        for index in topic.partition_indexes
    ]
    codes: Codes = {}

    def reported(where: TopicPartition, outcome: Outcome) -> None:
        codes[where] = outcome if isinstance(outcome, ErrorCode) else ErrorCode.NONE
        if len(codes) == len(partitions):
            done(codes)

    partitions = list(dict.fromkeys(partitions))
    if not partitions:
        done(codes)
    for where in partitions:
        write_one(broker, where, wanted, partial(reported, where))


def write_one(
    broker: Broker,
    where: TopicPartition,
    wanted: WritableTxnMarker,
    report: Callable[[Outcome], None],
) -> None:
    partition = broker.partitions.leader(*where)
    if isinstance(partition, ErrorCode):
        report(partition)
        return
    batch = batch_of(wanted, broker.clock())
    timeout_ms = broker.settings.request_timeout_ms
    shard = broker.coordinators.groups.here.get(where.partition)
    if where.topic == CONSUMER_OFFSETS and shard is not None:
        end = End(wanted.producer_id, wanted.transaction_result)
        shard.write_marker(batch, end, timeout_ms, report)
    else:
        append(broker, partition, Wanted(batch, timeout_ms, report))


def append(broker: Broker, partition: Partition, wanted: Wanted) -> None:
    Line(broker, partition).append([wanted], broker.clock())


def batch_of(wanted: WritableTxnMarker, now_ms: int) -> Buffer:
    type_ = MarkerType.COMMIT if wanted.transaction_result else MarkerType.ABORT
    return write_marker(
        Marker(type_, wanted.coordinator_epoch),
        producer_id=wanted.producer_id,
        producer_epoch=wanted.producer_epoch,
        now_ms=now_ms,
    )
