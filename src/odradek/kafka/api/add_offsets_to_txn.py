"""AddOffsetsToTxn (key 25, versions 0-4): a transaction will commit offsets of a group.

To the coordinator that is one more partition: the one of `__consumer_offsets` that has the group.
"""

from __future__ import annotations

from odradek.kafka.admin.names import CONSUMER_OFFSETS
from odradek.kafka.broker.broker import Broker
from odradek.kafka.coordinator.group_partitions import partition_for
from odradek.kafka.coordinator.transactions import TransactionShard
from odradek.kafka.coordinator.txn_effects import Token
from odradek.kafka.coordinator.txn_errors import for_version
from odradek.kafka.coordinator.txn_state import Claim
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)


async def add_offsets_to_txn(
    message: AddOffsetsToTxnRequest, request: Request, broker: Broker
) -> AddOffsetsToTxnResponse:
    claim = Claim(message.transactional_id, message.producer_id, message.producer_epoch)
    where = TopicPartition(CONSUMER_OFFSETS, partition_of(broker, message.group_id))

    def handle(shard: TransactionShard, token: Token, now_ms: int) -> None:
        shard.add_partitions(token, claim, [where], now_ms)

    answer = await broker.coordinators.transactions.ask(message.transactional_id, handle)
    code = for_version(answer.code, request.api.key, request.version)
    return AddOffsetsToTxnResponse(throttle_time_ms=0, error_code=code)


def partition_of(broker: Broker, group_id: str) -> int:
    """Where the group is, or will be: the topic may be made only after this."""
    known = broker.coordinators.groups.partition_of(group_id)
    if known is not None:
        return known
    return partition_for(group_id, broker.settings.offsets_topic_num_partitions)
