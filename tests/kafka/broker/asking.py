"""Requests as clients make them, and the parts of answers that tests look at."""

from __future__ import annotations

from odradek.kafka.wire.batch import read_batches
from odradek.kafka.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from odradek.kafka.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from odradek.kafka.wire.records import Record, read_records
from odradek.kafka.wire.schema import Records
from tests.kafka.broker.served import TOPIC, TOPIC_ID, Served
from tests.kafka.storage.logs import batch_of

PRODUCE_VERSION = 11
FETCH_VERSION = 17
NAMES_VERSION = 12  # The last fetch that has names.


def produce_of(
    *records: Records | None,
    topic: str = TOPIC,
    acks: int = -1,
    timeout_ms: int = 5000,
    transactional_id: str | None = None,
) -> ProduceRequest:
    """One batch for each partition, from 0 on."""
    data = [PartitionProduceData(index=n, records=each) for n, each in enumerate(records)]
    return ProduceRequest(
        acks=acks,
        timeout_ms=timeout_ms,
        transactional_id=transactional_id,
        topic_data=[TopicProduceData(name=topic, partition_data=data)],
    )


async def put(
    served: Served, *values: bytes, version: int = PRODUCE_VERSION, acks: int = -1
) -> PartitionProduceResponse:
    """Produce one batch to partition 0."""
    return await put_batch(served, batch_of(values), version=version, acks=acks)


async def put_batch(
    served: Served, data: bytes, *, version: int = PRODUCE_VERSION, acks: int = -1
) -> PartitionProduceResponse:
    message = produce_of(data, acks=acks)
    return only(await served.ask(message, version, ProduceResponse))


def only(response: ProduceResponse) -> PartitionProduceResponse:
    ((partition,),) = (topic.partition_responses for topic in response.responses)
    return partition


def fetch_of(
    *offsets: int,
    topic: str = TOPIC,
    topic_id: bytes = TOPIC_ID,
    bytes_max: int = 1 << 20,
    partition_bytes_max: int = 1 << 20,
    bytes_min: int = 1,
    wait_ms: int = 0,
    session: tuple[int, int] = (0, -1),
    isolation_level: int = 0,
    replica_id: int = -1,
    epoch: int = -1,
    last_epoch: int = -1,
    rack_id: str = "",
) -> FetchRequest:
    """From an offset of each partition, from 0 on; -1 leaves one out."""
    partitions = [
        FetchPartition(
            partition=number,
            fetch_offset=offset,
            partition_max_bytes=partition_bytes_max,
            current_leader_epoch=epoch,
            last_fetched_epoch=last_epoch,
        )
        for number, offset in enumerate(offsets)
        if offset >= 0
    ]
    topics = [FetchTopic(topic=topic, topic_id=topic_id, partitions=partitions)]
    return FetchRequest(
        replica_id=replica_id,
        max_wait_ms=wait_ms,
        min_bytes=bytes_min,
        max_bytes=bytes_max,
        isolation_level=isolation_level,
        session_id=session[0],
        session_epoch=session[1],
        topics=topics if partitions else [],
        rack_id=rack_id,
    )


async def get(
    served: Served, message: FetchRequest, version: int = NAMES_VERSION
) -> list[PartitionData]:
    return told(await served.ask(message, version, FetchResponse))


def told(response: FetchResponse) -> list[PartitionData]:
    return [partition for topic in response.responses for partition in topic.partitions]


def records_of(data: PartitionData) -> list[Record]:
    batches = read_batches(memoryview(data.records or b""))
    return [record for batch in batches for record in read_records(batch)]


def values_of(data: PartitionData) -> list[bytes | None]:
    return [record.value for record in records_of(data)]
