"""Verification: before a partition takes the first records of a transaction, its coordinator is
asked whether it knows of that (KIP-890).

Otherwise a batch that comes late would open a transaction that nobody ever ends. If this broker
coordinates itself the answer comes without waiting; if not, AddPartitionsToTxn asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from odradek.kafka.admin.names import TRANSACTION_STATE
from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.coordinators_peers import BrokerPeers
from odradek.kafka.broker.peers import PeerLost
from odradek.kafka.broker.txn_shards import TxnShards
from odradek.kafka.coordinator.txn_records import group_by_topic
from odradek.kafka.coordinator.txn_state import Claim
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)

VERSION = 5
Codes = dict[TopicPartition, ErrorCode]


class Verifier:
    """Asks the coordinators of transactions, here or elsewhere."""

    def __init__(self, broker: Broker, shards: TxnShards) -> None:
        self._broker = broker
        self._shards = shards
        self._peers = BrokerPeers(broker)
        self.failures = 0  # Of partitions that were not vouched for.

    async def verify(self, claim: Claim, partitions: Sequence[TopicPartition]) -> Codes:
        """Say of each partition whether it is in the open transaction: NONE if so."""
        codes = await self._verify(claim, partitions)
        self.failures += sum(code is not ErrorCode.NONE for code in codes.values())
        return codes

    async def _verify(self, claim: Claim, partitions: Sequence[TopicPartition]) -> Codes:
        index = self._shards.partition_of(claim.transactional_id)
        state = None
        if index is not None:
            state = self._broker.metadata.partition(TRANSACTION_STATE, index)
        if index is None or state is None or state.leader not in self._broker.metadata.brokers:
            return dict.fromkeys(partitions, ErrorCode.COORDINATOR_NOT_AVAILABLE)
        if state.leader != self._broker.id:
            return await self._ask(state.leader, claim, partitions)
        here = self._shards.here.get(index)
        if here is None:
            return dict.fromkeys(partitions, ErrorCode.NOT_COORDINATOR)
        return here.shard.verify_partitions(claim, partitions)

    def close(self) -> None:
        self._peers.close()

    async def _ask(
        self, broker_id: int, claim: Claim, partitions: Sequence[TopicPartition]
    ) -> Codes:
        try:
            response = await self._peers.ask(broker_id, question(claim, partitions), VERSION)
        except PeerLost as error:
            self._broker.note.info("a transaction cannot be verified now: %s", error)
            return dict.fromkeys(partitions, ErrorCode.NETWORK_EXCEPTION)
        assert isinstance(response, AddPartitionsToTxnResponse)
        if response.error_code:
            return dict.fromkeys(partitions, ErrorCode(response.error_code))
        return codes_of(response)


def question(claim: Claim, partitions: Sequence[TopicPartition]) -> AddPartitionsToTxnRequest:
    transaction = AddPartitionsToTxnTransaction(
        transactional_id=claim.transactional_id,
        producer_id=claim.producer_id,
        producer_epoch=claim.producer_epoch,
        verify_only=True,
        topics=[
            AddPartitionsToTxnTopic(name=topic, partitions=indexes)
            for topic, indexes in group_by_topic(partitions)
        ],
    )
    return AddPartitionsToTxnRequest(transactions=[transaction])


def codes_of(response: AddPartitionsToTxnResponse) -> Codes:
    return {
        TopicPartition(topic.name, each.partition_index): ErrorCode(each.partition_error_code)
        for result in response.results_by_transaction
        for topic in result.topic_results
        for each in topic.results_by_partition
    }
