"""Transactions, for administrators: which there are, what they hold up, and an end to them."""

from __future__ import annotations

from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.errors import BrokerRefused, TopicPartition, UnknownTopic
from odradek.kafka.client.identity import TRANSACTION, Coordinated
from odradek.kafka.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    ProducerState,
    TopicRequest,
)
from odradek.kafka.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)
from odradek.kafka.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from odradek.kafka.wire.messages.list_transactions import TransactionState as ListedTransaction
from odradek.kafka.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)


def list_transactions(cluster: Cluster) -> list[tuple[str, ListedTransaction]]:
    """All transactions, each with the address of its coordinator."""
    found: list[tuple[str, ListedTransaction]] = []
    cluster.topics()
    for address in cluster.addresses():
        request = ListTransactionsRequest(state_filters=[], producer_id_filters=[])
        with cluster.brokers.lend(address) as connection:
            answer = connection.request(request, ListTransactionsResponse)
        if answer.error_code:
            raise BrokerRefused(f"transactions of {address}", answer.error_code)
        found += [(str(address), it) for it in answer.transaction_states]
    return sorted(found, key=lambda it: it[1].transactional_id)


def describe_transaction(cluster: Cluster, transactional_id: str) -> TransactionState:
    request = DescribeTransactionsRequest(transactional_ids=[transactional_id])
    answer = Coordinated(cluster, TRANSACTION, transactional_id).ask(
        "the state", request, DescribeTransactionsResponse, _error
    )
    if code := _error(answer):
        raise BrokerRefused(f"transaction {transactional_id}", code)
    return answer.transaction_states[0]


def _error(answer: DescribeTransactionsResponse) -> int:
    return answer.transaction_states[0].error_code


def active_producers(cluster: Cluster, partition: TopicPartition) -> list[ProducerState]:
    """Who has written to a partition of late, and who has a transaction open on it."""
    led = cluster.leader_of(partition)
    if led is None:
        raise UnknownTopic(partition.topic, f"{partition} has no leader")
    topic = TopicRequest(name=partition.topic, partition_indexes=[partition.partition])
    with cluster.brokers.lend(led[0]) as connection:
        answer = connection.request(
            DescribeProducersRequest(topics=[topic]), DescribeProducersResponse
        )
    state = answer.topics[0].partitions[0]
    if state.error_code:
        raise BrokerRefused(f"producers of {partition}", state.error_code, state.error_message)
    return state.active_producers


def abort_on(cluster: Cluster, partition: TopicPartition, producer: ProducerState) -> None:
    """Write the mark of an abort: for what hangs because its coordinator has forgotten it."""
    led = cluster.leader_of(partition)
    if led is None:
        raise UnknownTopic(partition.topic, f"{partition} has no leader")
    topic = WritableTxnMarkerTopic(name=partition.topic, partition_indexes=[partition.partition])
    marker = WritableTxnMarker(
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        transaction_result=False,
        topics=[topic],
        coordinator_epoch=max(0, producer.coordinator_epoch),
    )
    with cluster.brokers.lend(led[0]) as connection:
        answer = connection.request(
            WriteTxnMarkersRequest(markers=[marker]), WriteTxnMarkersResponse
        )
    for result in answer.markers:
        for code in [it.error_code for topic_ in result.topics for it in topic_.partitions]:
            if code:
                raise BrokerRefused(f"aborting on {partition}", code)
