"""Topics of a real broker, made and filled by the messages themselves."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from uuid import uuid4

from odradek.kafka.client.brokers import Brokers
from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.errors import is_retriable
from odradek.kafka.client.settings import ClientSettings, client_settings
from odradek.kafka.wire.batch_writer import PLAIN, Envelope, write_batch
from odradek.kafka.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from odradek.kafka.wire.messages.create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from odradek.kafka.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from odradek.kafka.wire.records import Record
from tests.waiting import wait_until

TIMEOUT_MS = 10_000
BATCH_RECORDS = 100


class Topics:
    """Makes topics with names of their own, so that tests may share a broker."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.settings: ClientSettings = client_settings({"bootstrap.servers": bootstrap_servers})
        self.bootstrap_servers = bootstrap_servers
        self._brokers = Brokers(self.settings)

    @property
    def cluster(self) -> Cluster:
        """A fresh picture of the cluster."""
        return Cluster(self._brokers)

    def create(self, partitions: int = 1, name: str = "topic") -> str:
        """A new topic that can be written to."""
        name = f"{name}-{uuid4().hex[:8]}"
        topic = CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=1,
            assignments=[],
            configs=[],
        )
        wait_until(lambda: self._is_created(topic))
        self._await_leaders(name, partitions)
        return name

    def _is_created(self, topic: CreatableTopic) -> bool:
        """Try to create it; a cluster that was just started may have no broker to put it on yet."""
        with self._brokers.lend(self.settings.bootstrap_servers[0]) as connection:
            request = CreateTopicsRequest(topics=[topic])
            answer = connection.request(request, CreateTopicsResponse).topics[0]
        return not answer.error_code

    def add_partitions(self, name: str, total: int) -> None:
        """Let a topic have so many partitions in all."""
        topic = CreatePartitionsTopic(name=name, count=total, assignments=None)
        request = CreatePartitionsRequest(
            topics=[topic], timeout_ms=TIMEOUT_MS, validate_only=False
        )
        with self._brokers.lend(self.settings.bootstrap_servers[0]) as connection:
            answer = connection.request(request, CreatePartitionsResponse)
        assert not answer.results[0].error_code, answer.results[0].error_message
        self._await_leaders(name, total)

    def append(
        self, name: str, partition: int, records: Iterable[Record], envelope: Envelope = PLAIN
    ) -> None:
        """Append records, some to a batch; the broker gives them their offsets."""
        remaining = list(records)
        while remaining:
            batch, remaining = remaining[:BATCH_RECORDS], remaining[BATCH_RECORDS:]
            numbered = [record._replace(offset=n) for n, record in enumerate(batch)]
            whole = write_batch(numbered, envelope)
            wait_until(partial(self._is_produced, name, partition, whole))

    def _is_produced(self, name: str, partition: int, batch: bytearray) -> bool:
        """Try to append; a partition may be without a leader for a moment."""
        data = PartitionProduceData(index=partition, records=batch)
        request = ProduceRequest(
            acks=-1,
            timeout_ms=TIMEOUT_MS,
            topic_data=[TopicProduceData(name=name, partition_data=[data])],
        )
        with self._brokers.lend(self.settings.bootstrap_servers[0]) as connection:
            answer = connection.request(request, ProduceResponse)
        code = answer.responses[0].partition_responses[0].error_code
        assert not code or is_retriable(code), code
        return not code

    def _await_leaders(self, name: str, partitions: int) -> None:
        def are_led() -> bool:
            picture = self.cluster.topics().get(name)
            leaders = picture.leaders.values() if picture else []
            return len(leaders) == partitions and None not in leaders

        wait_until(are_led)

    def close(self) -> None:
        self._brokers.close()
