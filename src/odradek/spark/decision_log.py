"""The topic of decisions: read up to its end, added to, made where there is none."""

from __future__ import annotations

from collections.abc import Iterable

from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.errors import BrokerRefused, TopicPartition, UnknownTopic
from odradek.kafka.client.fetcher import Fetcher, OffsetRange
from odradek.kafka.client.identity import init_idempotent
from odradek.kafka.client.offsets import EARLIEST, LATEST, list_offsets
from odradek.kafka.client.partitioner import partition_of
from odradek.kafka.client.producer import Producer
from odradek.kafka.client.producer_settings import ProducerSettings
from odradek.kafka.wire.batch import HEADER_BYTES, Batch, cut_entries
from odradek.kafka.wire.batch_writer import write_batch
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from odradek.kafka.wire.records import Record, read_records
from odradek.runtime.clock import wall_clock_ms
from odradek.spark.decision import Decision, Decisions, key_of

BROKER_DEFAULT = -1
PARTITIONS = 8


class DecisionLog:
    """The partition of the topic that has the decisions about one query."""

    def __init__(
        self, cluster: Cluster, settings: ProducerSettings, topic: str, query_id: str
    ) -> None:
        self.cluster = cluster
        self._settings = settings
        count = cluster.partition_count(topic)
        self._partition = TopicPartition(topic, partition_of(query_id.encode(), count))
        self._position: int | None = None
        self.decisions = Decisions()

    def read(self) -> Decisions:
        """All that is decided by now."""
        partition = self._partition
        if self._position is None:
            self._position = list_offsets(self.cluster, {partition: EARLIEST})[partition] or 0
        end = list_offsets(self.cluster, {partition: LATEST})[partition] or 0
        if self._position < end:
            for fetched in Fetcher(self.cluster, [OffsetRange(partition, self._position, end)]):
                for record in _records(fetched.data):
                    if self._position <= record.offset:
                        self.decisions.apply(record)
            self._position = end
        return self.decisions

    def propose(self, proposal: Decision) -> Decision:
        """Write a decision unless there is one; return the one that counts."""
        known = self.read().of(proposal.query_id, proposal.batch_id)
        if known is not None:
            return known
        records = [Record(0, 0, proposal.key, proposal.to_json())]
        for run_id in self.decisions.stale_runs(proposal):
            records.append(Record(len(records), 0, key_of(proposal.query_id, run_id), None))
        self._append(records)
        decided = self.read().of(proposal.query_id, proposal.batch_id)
        assert decided is not None, "what was acknowledged is there"
        return decided

    def _append(self, records: list[Record]) -> None:
        producer = Producer(self.cluster, self._settings, init_idempotent(self.cluster))
        try:
            encoded = bytes(write_batch(records)[HEADER_BYTES:])
            producer.send(self._partition, encoded, len(records), wall_clock_ms())
            producer.flush()
        finally:
            producer.close()


def _records(data: memoryview) -> Iterable[Record]:
    for entry in cut_entries(data):
        batch = Batch(entry)
        batch.check_crc()
        if not batch.is_control:
            yield from read_records(batch)


def ensure_topic(cluster: Cluster, topic: str) -> None:
    """Make the topic of decisions if it is not there."""
    try:
        cluster.partition_count(topic)
        return
    except UnknownTopic:
        pass
    wanted = CreatableTopic(
        name=topic,
        num_partitions=PARTITIONS,
        replication_factor=BROKER_DEFAULT,
        assignments=[],
        configs=[CreatableTopicConfig(name="cleanup.policy", value="compact")],
    )
    answer = cluster.ask_controller(CreateTopicsRequest(topics=[wanted]), CreateTopicsResponse)
    code = answer.topics[0].error_code
    if code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
        raise BrokerRefused(f"creating topic {topic}", code, answer.topics[0].error_message)
    cluster.await_topic(topic)
