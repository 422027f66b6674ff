"""Shards of coordinators on a served broker: a test says who leads them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from odradek.kafka.admin.names import CONSUMER_OFFSETS, TRANSACTION_STATE
from odradek.kafka.broker.group_shards import GroupShard
from odradek.kafka.broker.metadata import KnownBroker
from odradek.kafka.broker.txn_shards import TxnShard
from odradek.kafka.coordinator.shard import Status
from odradek.kafka.coordinator.transactions import Phase
from odradek.kafka.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from odradek.kafka.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from odradek.kafka.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from odradek.kafka.wire.messages.update_metadata import UpdateMetadataPartitionState
from tests.kafka.broker.served import BROKER_ID, TOPIC, Served

COMPACTED = {"cleanup.policy": "compact"}
OFFSETS_ID, STATE_ID = bytes([2] * 16), bytes([3] * 16)


def know(served: Served, topic: str, count: int = 1, leader: int = BROKER_ID) -> None:
    """Let the broker hear of a topic."""
    served.broker.metadata.brokers.setdefault(BROKER_ID, KnownBroker(BROKER_ID, {}, None))
    served.broker.metadata.topics[topic] = {
        index: UpdateMetadataPartitionState(
            partition_index=index,
            controller_epoch=1,
            leader=leader,
            leader_epoch=0,
            isr=[leader],
            zk_version=0,
            replicas=[leader],
            offline_replicas=[],
        )
        for index in range(count)
    }


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.001)


async def coordinate_groups(
    served: Served, *, epoch: int = 0, replicas: tuple[int, ...] = (BROKER_ID,)
) -> GroupShard:
    """Lead the only partition of `__consumer_offsets`, and wait until it is loaded."""
    know(served, TOPIC, 2)
    know(served, CONSUMER_OFFSETS)
    lead_groups(served, epoch=epoch, replicas=replicas)
    shard = served.broker.coordinators.groups.here[0]
    await until(lambda: shard.shard.status is Status.ACTIVE)
    return shard


def lead_groups(
    served: Served, *, epoch: int = 0, replicas: tuple[int, ...] = (BROKER_ID,)
) -> None:
    served.lead(
        CONSUMER_OFFSETS, epoch=epoch, replicas=replicas, topic_id=OFFSETS_ID, overrides=COMPACTED
    )


async def coordinate_transactions(served: Served, *, epoch: int = 0) -> TxnShard:
    """Lead the only partition of `__transaction_state`, and wait until it is loaded."""
    know(served, TOPIC, 2)
    know(served, TRANSACTION_STATE)
    served.lead(TRANSACTION_STATE, epoch=epoch, topic_id=STATE_ID, overrides=COMPACTED)
    shard = served.broker.coordinators.transactions.here[0]
    await until(lambda: shard.shard.phase is Phase.ACTIVE)
    return shard


def commit_of(
    offset: int,
    metadata: str = "",
    *,
    group: str = "g",
    partition: int = 0,
    retention_time_ms: int = -1,
) -> OffsetCommitRequest:
    committed = OffsetCommitRequestPartition(
        partition_index=partition, committed_offset=offset, committed_metadata=metadata
    )
    return OffsetCommitRequest(
        group_id=group,
        retention_time_ms=retention_time_ms,
        topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=[committed])],
    )


async def commit(served: Served, offset: int, metadata: str = "") -> int:
    """Commit an offset of partition 0; the error code."""
    response = await served.ask(commit_of(offset, metadata), 7, OffsetCommitResponse)
    ((only,),) = (topic.partitions for topic in response.topics)
    return only.error_code


async def committed(served: Served) -> tuple[int, str | None, int]:
    """Offset, metadata and error code of partition 0."""
    asked = [OffsetFetchRequestTopic(name=TOPIC, partition_indexes=[0])]
    message = OffsetFetchRequest(group_id="g", topics=asked, groups=[], require_stable=False)
    response = await served.ask(message, 5, OffsetFetchResponse)
    if response.error_code:
        return -1, None, response.error_code
    ((only,),) = (topic.partitions for topic in response.topics)
    return only.committed_offset, only.metadata, only.error_code


async def join(served: Served) -> JoinGroupResponse:
    message = JoinGroupRequest(
        group_id="g",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        member_id="",
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"\0\0")],
    )
    return await served.ask(message, 3, JoinGroupResponse)
