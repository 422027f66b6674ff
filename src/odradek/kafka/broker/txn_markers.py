"""Markers on their way: from a coordinator to whoever leads the partitions of a transaction.

What this broker leads is written at once. For another broker there is one request under way at a
time; what gathers meanwhile is the next. Whether to try again is for the shard to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from odradek.kafka.admin.names import TRANSACTION_STATE
from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.coordinators_peers import BrokerPeers
from odradek.kafka.broker.peers import PeerLost
from odradek.kafka.broker.txn_writing import Codes, write_markers
from odradek.kafka.coordinator.txn_effects import Markers
from odradek.kafka.coordinator.txn_records import group_by_topic
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.control import MarkerType
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

VERSION = 1
NOBODY = -1

Answered = Callable[[Codes], None]


class Sent(NamedTuple):
    """A marker for partitions of one broker, and who hears what it says."""

    marker: WritableTxnMarker
    answered: Answered


class MarkerPost:
    """Delivers the markers of all shards of a broker."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._peers = BrokerPeers(broker)
        self._gathered: dict[int, list[Sent]] = {}  # By broker; there is a task for each.

    def send(
        self, markers: Markers, answered: Answered, gone: Callable[[list[TopicPartition]], None]
    ) -> None:
        """Have markers written. Some partitions may turn out to be gone; the rest is answered."""
        missing = [each for each in markers.partitions if self._is_gone(each)]
        if missing:
            gone(missing)
        for leader_id, partitions in self._by_leader(markers.partitions, set(missing)):
            if leader_id == self._broker.id:
                write_markers(self._broker, marker_of(markers, partitions), answered)
            elif leader_id in self._broker.metadata.brokers:
                self._gather(leader_id, Sent(marker_of(markers, partitions), answered))
            else:
                answered(dict.fromkeys(partitions, ErrorCode.LEADER_NOT_AVAILABLE))

    def close(self) -> None:
        self._peers.close()

    def _is_gone(self, where: TopicPartition) -> bool:
        """Whether the cluster does not know a partition, while this broker knows the cluster."""
        metadata = self._broker.metadata
        return TRANSACTION_STATE in metadata.topics and metadata.partition(*where) is None

    def _by_leader(
        self, partitions: Iterable[TopicPartition], missing: set[TopicPartition]
    ) -> Iterator[tuple[int, list[TopicPartition]]]:
        found: dict[int, list[TopicPartition]] = {}
        for each in partitions:
            if each not in missing:
                state = self._broker.metadata.partition(*each)
                found.setdefault(NOBODY if state is None else state.leader, []).append(each)
        yield from found.items()

    def _gather(self, broker_id: int, sent: Sent) -> None:
        line = self._gathered.get(broker_id)
        if line is not None:
            line.append(sent)
            return
        self._gathered[broker_id] = [sent]
        name = f"markers for broker {broker_id}"
        self._broker.tasks.start(name, self._deliver(broker_id), may_end=True)

    async def _deliver(self, broker_id: int) -> None:
        while together := self._gathered[broker_id]:
            self._gathered[broker_id] = []
            request = WriteTxnMarkersRequest(markers=[each.marker for each in together])
            try:
                response = await self._peers.ask(broker_id, request, VERSION)
            except PeerLost as error:
                self._broker.note.info("markers have to wait for broker %s: %s", broker_id, error)
                response = WriteTxnMarkersResponse(markers=[])
            assert isinstance(response, WriteTxnMarkersResponse)
            for each in together:
                each.answered(codes_for(each.marker, response))
        del self._gathered[broker_id]


def marker_of(markers: Markers, partitions: Iterable[TopicPartition]) -> WritableTxnMarker:
    return WritableTxnMarker(
        producer_id=markers.producer_id,
        producer_epoch=markers.producer_epoch,
        transaction_result=markers.type is MarkerType.COMMIT,
        topics=[
            WritableTxnMarkerTopic(name=topic, partition_indexes=indexes)
            for topic, indexes in group_by_topic(partitions)
        ],
        coordinator_epoch=markers.coordinator_epoch,
    )


def codes_for(marker: WritableTxnMarker, response: WriteTxnMarkersResponse) -> Codes:
    """What was said to one marker; of what nothing was said the connection is to blame."""
    said = {
        (topic.name, each.partition_index): ErrorCode(each.error_code)
        for result in response.markers
        if result.producer_id == marker.producer_id
        for topic in result.topics
        for each in topic.partitions
    }
    return {
        TopicPartition(topic.name, index): said.get(
            (topic.name, index), ErrorCode.NETWORK_EXCEPTION
        )
        for topic in marker.topics
        for index in topic.partition_indexes
    }
