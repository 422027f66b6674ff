"""Transactions: what is written under a transactional id counts all at once, or not at all.

Whoever knows the identity of an open transaction can end it, be it another process: that is how a
driver commits what its executors wrote. A coordinator that has ended it as asked says so however
often it is asked; one that has ended it otherwise, or has let a newer epoch in, refuses.
"""

from __future__ import annotations

from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.errors import BrokerRefused, ConnectionLost, TopicPartition
from odradek.kafka.client.identity import TRANSACTION, Coordinated, Identity
from odradek.kafka.client.producer import Producer
from odradek.kafka.client.producer_settings import ProducerSettings
from odradek.kafka.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from odradek.kafka.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)
from odradek.kafka.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from odradek.kafka.wire.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from odradek.kafka.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)

ONGOING = "Ongoing"


class Transaction:
    """One transaction of one transactional id, open from the first record on."""

    def __init__(self, cluster: Cluster, settings: ProducerSettings, transactional_id: str) -> None:
        self._coordinated = Coordinated(cluster, TRANSACTION, transactional_id)
        self._cluster = cluster
        timeout_ms = settings.transaction_timeout_ms
        self.identity = init_transactional(cluster, transactional_id, timeout_ms)
        self._producer = Producer(cluster, settings, self.identity)
        self._partitions: set[TopicPartition] = set()

    def send(
        self,
        partition: TopicPartition,
        records: bytes,
        count: int,
        time_ms: int,
        time_ms_max: int | None = None,
    ) -> None:
        """Write a batch as part of the transaction."""
        if partition not in self._partitions:
            self._add(partition)
        self._producer.send(partition, records, count, time_ms, time_ms_max)

    def last_offset(self, partition: TopicPartition) -> int:
        """The offset of the last batch's first record that was acknowledged."""
        return self._producer.last_offset(partition)

    def flush(self) -> None:
        """Return when all is written, and waits for the end."""
        self._producer.flush()

    def close(self) -> None:
        """Leave the transaction as it is."""
        self._producer.close()

    def abort(self) -> None:
        """Undo it, if anything was written."""
        self._producer.close()
        if self._partitions:
            end_transaction(self._cluster, self.identity, is_committed=False)

    def _add(self, partition: TopicPartition) -> None:
        assert self.identity.transactional_id is not None
        topic = AddPartitionsToTxnTopic(name=partition.topic, partitions=[partition.partition])
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.identity.transactional_id,
            v3_and_below_producer_id=self.identity.producer_id,
            v3_and_below_producer_epoch=self.identity.epoch,
            v3_and_below_topics=[topic],
        )
        what = f"adding {partition} to the transaction"
        answer = self._coordinated.ask(what, request, AddPartitionsToTxnResponse, _first_error)
        if code := _first_error(answer):
            raise BrokerRefused(f"{what} of {self.identity.transactional_id}", code)
        self._partitions.add(partition)


def _first_error(answer: AddPartitionsToTxnResponse) -> int:
    codes = [
        result.partition_error_code
        for topic in answer.results_by_topic_v3_and_below
        for result in topic.results_by_partition
    ]
    return next(filter(None, codes), 0)


def init_transactional(cluster: Cluster, transactional_id: str, timeout_ms: int) -> Identity:
    """A new epoch of a transactional id: what its predecessor has open is undone."""
    request = InitProducerIdRequest(
        transactional_id=transactional_id, transaction_timeout_ms=timeout_ms
    )
    answer = Coordinated(cluster, TRANSACTION, transactional_id).ask(
        "a producer id", request, InitProducerIdResponse, lambda response: response.error_code
    )
    if answer.error_code:
        raise BrokerRefused(f"a producer id for {transactional_id}", answer.error_code)
    return Identity(answer.producer_id, answer.producer_epoch, transactional_id)


def end_transaction(cluster: Cluster, identity: Identity, *, is_committed: bool) -> int:
    """End a transaction, whoever began it; the error code of a refusal, else 0."""
    assert identity.transactional_id is not None
    request = EndTxnRequest(
        transactional_id=identity.transactional_id,
        producer_id=identity.producer_id,
        producer_epoch=identity.epoch,
        committed=is_committed,
    )
    answer = Coordinated(cluster, TRANSACTION, identity.transactional_id).ask(
        "the end", request, EndTxnResponse, lambda response: response.error_code
    )
    return answer.error_code


def open_transactions(cluster: Cluster, prefix: str) -> list[Identity]:
    """The transactions under ids of this prefix that are open, as far as brokers answer."""
    found: list[Identity] = []
    for address in cluster.addresses():
        try:
            with cluster.brokers.lend(address) as connection:
                listed = connection.request(
                    ListTransactionsRequest(state_filters=[ONGOING], producer_id_filters=[]),
                    ListTransactionsResponse,
                )
                states = listed.transaction_states
                ids = [s.transactional_id for s in states if s.transactional_id.startswith(prefix)]
                if not ids:
                    continue
                request = DescribeTransactionsRequest(transactional_ids=ids)
                described = connection.request(request, DescribeTransactionsResponse)
        except ConnectionLost:
            continue  # They will be found another time, or end by their timeout.
        found += [
            Identity(one.producer_id, one.producer_epoch, one.transactional_id)
            for one in described.transaction_states
            if not one.error_code and one.transaction_state == ONGOING
        ]
    return found
