"""Fetch (key 1, versions 0-17): read batches, as a consumer or as a follower.

An answer waits until there are `min_bytes`, until something is wrong, or for `max_wait_ms`. It has
whole batches, at most `max_bytes` in all and as many a partition as it asks for; but the first
batch of the first partition that has any comes even if it is larger (KIP-74). Consumers see what
is committed: up to the high watermark or, if they want, up to the last stable offset, with the
aborted transactions. A follower sees all, and its offset says what it has. From v11 on a consumer
may read from any replica, and may be sent to one that is nearer (KIP-392).

A consumer that is over its quota gets an empty answer, and the time to wait. A follower gets
nothing of partitions whose replication is limited, while it is not in sync and the rate too high.

v0-1 answer magic 0, v2-3 magic 1; v7 brings sessions (`broker/fetch_sessions.py`), v10 zstd, v12
the diverging epoch, v13 topic ids.
"""

from __future__ import annotations

from collections.abc import Sequence

from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.fetch_sessions import Context
from odradek.kafka.broker.hints import hint_of, nodes_at
from odradek.kafka.broker.old_readers import FIRST_WITH_ZSTD, adapt_all
from odradek.kafka.broker.parked import BytesWanted, Watched
from odradek.kafka.broker.partition import Partition
from odradek.kafka.broker.reads import CONSUMER, Asked, Look, Part, begin_all, read_cold
from odradek.kafka.storage.lookup import Fetched
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from odradek.kafka.wire.schema import Records

READ_COMMITTED = 1
FIRST_WITH_REPLICA_STATE = 15
FIRST_WITH_HINTS = 16
HINTED = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)
# What is known before anything is read: such answers have an empty list where others have null.
UNREAD = (
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.UNKNOWN_TOPIC_ID,
    ErrorCode.INCONSISTENT_TOPIC_ID,
)


async def fetch(message: FetchRequest, request: Request, broker: Broker) -> FetchResponse:
    version = request.version
    is_old = version < FIRST_WITH_REPLICA_STATE
    replica_id = message.replica_id if is_old else message.replica_state.replica_id
    context = broker.fetch_sessions.begin(message, version, is_follower=replica_id >= 0)
    if isinstance(context, FetchResponse):
        return context
    bytes_max = min(message.max_bytes, broker.settings.fetch_max_bytes)
    throttling = broker.throttling
    is_limited = throttling.is_on and replica_id == CONSUMER
    if is_limited:
        bytes_max = throttling.fetch_bytes_max(request, bytes_max)
    is_committed = message.isolation_level == READ_COMMITTED and replica_id == CONSUMER
    asked = Asked(broker, version, replica_id, bytes_max, is_committed, message.rack_id)
    parts = begin_all(asked, context.entries, Look.FIRST)
    if asked.is_cold:
        await read_cold(asked, parts)
    bytes_min = min(message.min_bytes, bytes_max)
    has_partitions = bool(parts) or context.is_incremental
    if message.max_wait_ms > 0 and has_partitions and (wanted := bytes_wanted(parts, bytes_min)):
        parts = await wait(asked, context, parts, wanted, bytes_min, message.max_wait_ms)
    if is_limited and (pause_ms := throttling.charge_fetch(request, bytes_read(parts))):
        return broker.fetch_sessions.throttled(context, pause_ms)
    if version < FIRST_WITH_ZSTD:
        await adapt_all(asked, parts)
    nodes: dict[int, NodeEndpoint] = {}
    listener = request.origin.listener
    results = [(part.entry, answer(asked, part, listener, nodes)) for part in parts]
    response = context.answer(results, nodes)
    if context.session is not None:
        let_rest(asked, parts)
    return response


def bytes_wanted(parts: list[Part], bytes_min: int) -> int:
    """How many bytes an answer must wait for; 0 if it may leave."""
    count = 0
    for part in parts:
        if part.is_settled:
            return 0
        if isinstance(part.fetched, Fetched):
            count += len(part.fetched.data)
    return max(0, bytes_min - count)


def bytes_read(parts: list[Part]) -> int:
    """What counts against a quota."""
    return sum(len(part.fetched.data) for part in parts if isinstance(part.fetched, Fetched))


async def wait(
    asked: Asked,
    context: Context,
    parts: list[Part],
    wanted: int,
    bytes_min: int,
    max_wait_ms: int,
) -> list[Part]:
    """Let the request rest until enough has come, and read again."""
    parked, left_ms = asked.broker.parked, max_wait_ms
    deadline_s = parked.loop.time() + max_wait_ms / 1000
    watched: Sequence[Watched]
    while wanted:
        if context.session is not None:
            watched = (context.session,)
            let_rest(asked, parts)
        else:
            watched = [part.partition for part in parts if part.partition is not None]
        if asked.is_committed and is_unclear(context, parts):
            wanted = 1  # The end of a transaction shows more than it appends.
        waiter = BytesWanted(wanted, is_follower=asked.replica_id != CONSUMER)
        parked.go_on()  # What this follower has committed is answered first.
        is_missed = has_moved(asked, context, parts)
        is_in_time = is_missed or await parked.wait(waiter, watched, left_ms)
        context.look_again()
        is_known = asked.is_follower and context.is_incremental
        has_changed = is_missed or waiter.has_changed
        look = Look.FOR_BYTES if is_known and not has_changed else Look.AGAIN
        parts = begin_all(asked, context.entries, look)
        if asked.is_cold:
            await read_cold(asked, parts)
        wanted = bytes_wanted(parts, bytes_min) if is_in_time else 0
        if wanted:
            left_ms = max(0, int((deadline_s - parked.loop.time()) * 1000))
    return parts


def has_moved(asked: Asked, context: Context, parts: list[Part]) -> bool:
    """Whether there is more to see than when we looked.

    What a follower has fetched may commit what a coordinator waits for, which then appends, here
    and now, to a partition that this very fetch has looked at or left to rest: nobody who waits
    could be told of it yet.
    """
    if context.session is None:
        return any(
            part.partition is not None and asked.upper_offset(part.partition) > part.upper_offset
            for part in parts
        )
    unread = [
        entry
        for entry in context.session.stale
        if entry.watched is not None and asked.upper_offset(entry.watched) > entry.fetch_offset
    ]
    if not unread:
        return False
    seen = {part.entry: part.upper_offset for part in parts}
    return any(
        entry.watched is not None and asked.upper_offset(entry.watched) > seen.get(entry, -1)
        for entry in unread
    )


def let_rest(asked: Asked, parts: list[Part]) -> None:
    """A session need not look again at partitions of which all is read and told."""
    for part in parts:
        partition, fetched = part.partition, part.fetched
        has_more = isinstance(fetched, Fetched) and fetched.data
        if partition is not None and not part.is_settled and not has_more:
            part.entry.rest(asked.upper_offset(partition))


def is_unclear(context: Context, parts: list[Part]) -> bool:
    """Whether transactions may be open in what is read."""
    logs = [part.partition.log for part in parts if part.partition is not None]
    return context.session is not None or any(
        log.last_stable_offset < log.high_watermark for log in logs
    )


def answer(
    asked: Asked, part: Part, listener: str, nodes: dict[int, NodeEndpoint]
) -> PartitionData:
    partition, fetched = part.partition, part.fetched
    if part.error or partition is None:
        return failure(asked, part, listener, nodes)
    log = partition.log
    if part.is_settled:
        epoch, end_offset = part.diverging or (-1, -1)
        return PartitionData(
            partition_index=part.entry.index,
            error_code=0,
            high_watermark=log.high_watermark,
            last_stable_offset=log.last_stable_offset,
            log_start_offset=log.start_offset,
            diverging_epoch=EpochEndOffset(epoch=epoch, end_offset=end_offset),
            aborted_transactions=None,
            preferred_read_replica=-1 if part.preferred is None else part.preferred,
            records=b"",
        )
    assert isinstance(fetched, Fetched)
    data: Records = fetched.data
    count(asked, partition, len(data))
    aborted = None
    if asked.is_committed:
        aborted = [
            AbortedTransaction(producer_id=each.producer_id, first_offset=each.first_offset)
            for each in fetched.aborted
        ]
    return PartitionData(
        partition_index=part.entry.index,
        error_code=0,
        high_watermark=log.high_watermark,
        last_stable_offset=log.last_stable_offset,
        log_start_offset=log.start_offset,
        aborted_transactions=aborted,
        records=data,
    )


def failure(
    asked: Asked, part: Part, listener: str, nodes: dict[int, NodeEndpoint]
) -> PartitionData:
    """Say what is wrong, and who leads instead if it is that (KIP-951)."""
    entry, error = part.entry, part.error
    if part.partition is not None:
        part.partition.meter.failed_fetch_requests += 1
    aborted: list[AbortedTransaction] | None = [] if error in UNREAD else None
    if error not in HINTED or asked.version < FIRST_WITH_HINTS:
        return PartitionData(
            partition_index=entry.index,
            error_code=error,
            high_watermark=-1,
            aborted_transactions=aborted,
            records=b"",
        )
    hint = hint_of(asked.broker, entry.topic, entry.index)
    for broker_id, host, port, rack in nodes_at(asked.broker, hint.leader_id, listener):
        nodes[broker_id] = NodeEndpoint(node_id=broker_id, host=host, port=port, rack=rack)
    return PartitionData(
        partition_index=entry.index,
        error_code=error,
        high_watermark=-1,
        current_leader=LeaderIdAndEpoch(leader_id=hint.leader_id, leader_epoch=hint.leader_epoch),
        aborted_transactions=aborted,
        records=b"",
    )


def count(asked: Asked, partition: Partition, size: int) -> None:
    partition.meter.fetch_requests += 1
    if asked.is_follower:
        partition.meter.replication_bytes_out += size
        if asked.is_limited:
            asked.broker.replication_quotas.count_sent(*partition.where, size)
    else:
        partition.meter.bytes_out += size
