"""A transaction, request by request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from odradek.kafka.wire.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from odradek.kafka.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from odradek.kafka.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from odradek.kafka.wire.messages.init_producer_id import InitProducerIdResponse
from odradek.kafka.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from odradek.kafka.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from tests.kafka.api.administered import Administered
from tests.kafka.storage.logs import batch_of

Wanted = Mapping[str, Sequence[int]]
Codes = dict[tuple[str, int], int]


class Transactor:
    """A producer with an id and an epoch."""

    def __init__(
        self, broker: Administered, given: InitProducerIdResponse, transactional_id: str = "x"
    ) -> None:
        assert given.error_code == 0
        self.broker = broker
        self.transactional_id = transactional_id
        self.id, self.epoch = given.producer_id, given.producer_epoch
        self.sequences: Counter[int] = Counter()  # By partition.

    async def add(self, wanted: Wanted, version: int = 3) -> Codes:
        message = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=self.id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=topics_of(wanted),
        )
        response = await self.broker.ask(message, version, AddPartitionsToTxnResponse)
        return codes_of(response.results_by_topic_v3_and_below)

    async def ask_as_broker(
        self, wanted: Wanted, version: int = 5, *, verify_only: bool = True
    ) -> Codes:
        transaction = AddPartitionsToTxnTransaction(
            transactional_id=self.transactional_id,
            producer_id=self.id,
            producer_epoch=self.epoch,
            verify_only=verify_only,
            topics=topics_of(wanted),
        )
        message = AddPartitionsToTxnRequest(transactions=[transaction])
        response = await self.broker.ask(message, version, AddPartitionsToTxnResponse)
        (result,) = response.results_by_transaction
        assert result.transactional_id == self.transactional_id
        return codes_of(result.topic_results)

    async def produce(
        self, *values: bytes, version: int = 11, partition: int = 0, at: Administered | None = None
    ) -> int:
        """To a partition of `t`, at the broker that leads it; the error code."""
        batch = batch_of(
            values,
            producer_id=self.id,
            producer_epoch=self.epoch,
            sequence=self.sequences[partition],
            is_transactional=True,
        )
        data = [PartitionProduceData(index=partition, records=batch)]
        message = ProduceRequest(
            acks=-1,
            timeout_ms=5000,
            transactional_id=self.transactional_id,
            topic_data=[TopicProduceData(name="t", partition_data=data)],
        )
        response = await (at or self.broker).ask(message, version, ProduceResponse)
        code = response.responses[0].partition_responses[0].error_code
        self.sequences[partition] += len(values) if code == 0 else 0
        return code

    async def add_offsets(self, group: str, version: int = 3) -> int:
        message = AddOffsetsToTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self.id,
            producer_epoch=self.epoch,
            group_id=group,
        )
        return (await self.broker.ask(message, version, AddOffsetsToTxnResponse)).error_code

    async def commit_offset(
        self,
        group: str,
        offset: int,
        version: int = 3,
        partition: int = 0,
        at: Administered | None = None,
    ) -> int:
        committed = TxnOffsetCommitRequestPartition(
            partition_index=partition, committed_offset=offset, committed_metadata="m"
        )
        message = TxnOffsetCommitRequest(
            transactional_id=self.transactional_id,
            group_id=group,
            producer_id=self.id,
            producer_epoch=self.epoch,
            topics=[TxnOffsetCommitRequestTopic(name="t", partitions=[committed])],
        )
        response = await (at or self.broker).ask(message, version, TxnOffsetCommitResponse)
        return response.topics[0].partitions[0].error_code

    async def end(self, *, is_commit: bool = True, version: int = 3) -> int:
        message = EndTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self.id,
            producer_epoch=self.epoch,
            committed=is_commit,
        )
        return (await self.broker.ask(message, version, EndTxnResponse)).error_code


def topics_of(wanted: Wanted) -> list[AddPartitionsToTxnTopic]:
    return [
        AddPartitionsToTxnTopic(name=name, partitions=list(indexes))
        for name, indexes in wanted.items()
    ]


def codes_of(results: list[AddPartitionsToTxnTopicResult]) -> Codes:
    return {
        (topic.name, each.partition_index): each.partition_error_code
        for topic in results
        for each in topic.results_by_partition
    }
