"""What brokers are told after a decision: LeaderAndIsr, then UpdateMetadata, then StopReplica.

What must be told is gathered while things are decided and written. The messages are made at the
end, from the image as it then is, one of each kind a broker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from odradek.kafka.controller.image import BEING_DELETED, Image
from odradek.kafka.controller.versions import Versions
from odradek.kafka.settings.endpoints import SecurityProtocol
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.messages.leader_and_isr import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from odradek.kafka.wire.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaPartitionV0,
    StopReplicaRequest,
    StopReplicaTopicState,
    StopReplicaTopicV1,
)
from odradek.kafka.wire.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from odradek.kafka.wire.schema import Message

PROTOCOL_IDS = {
    SecurityProtocol.PLAINTEXT: 0,
    SecurityProtocol.SSL: 1,
    SecurityProtocol.SASL_PLAINTEXT: 2,
    SecurityProtocol.SASL_SSL: 3,
}
GROUPED_LEADER_AND_ISR = 2
GROUPED_UPDATE_METADATA = 5
GROUPED_STOP_REPLICA = 1
EACH_SAYS_WHETHER_TO_DELETE = 3  # From this version of StopReplica on.
WITH_RECOVERY_STATE = 6  # Likewise, of LeaderAndIsr.


class Outgoing(NamedTuple):
    """A message for one broker, in the version to send it in."""

    broker_id: int
    message: Message
    version: int


@dataclass(slots=True)
class Requests:
    """Who must be told what."""

    leader_and_isr: dict[int, dict[TopicPartition, bool]] = field(default_factory=dict)
    stop: dict[int, dict[TopicPartition, bool]] = field(default_factory=dict)
    metadata_to_all: bool = False
    metadata_to: dict[int, None] = field(default_factory=dict)
    metadata_of: dict[TopicPartition, None] = field(default_factory=dict)

    def lead_or_follow(
        self, brokers: Iterable[int], where: TopicPartition, *, is_new: bool = False
    ) -> None:
        """Tell these brokers about their replica, and everybody who leads it."""
        for broker_id in brokers:
            told = self.leader_and_isr.setdefault(broker_id, {})
            told[where] = is_new or told.get(where, False)
        self.metadata_to_all = True
        self.metadata_of[where] = None

    def stop_replica(self, broker_id: int, where: TopicPartition, *, delete: bool) -> None:
        told = self.stop.setdefault(broker_id, {})
        told[where] = delete or told.get(where, False)

    def tell(self, brokers: Iterable[int], partitions: Iterable[TopicPartition] = ()) -> None:
        """Have brokers' metadata updated; all live brokers are always part of it."""
        self.metadata_to |= dict.fromkeys(brokers)
        self.metadata_of |= dict.fromkeys(partitions)

    def tell_all(self, partitions: Iterable[TopicPartition] = ()) -> None:
        self.metadata_to_all = True
        self.metadata_of |= dict.fromkeys(partitions)


def messages(image: Image, requests: Requests, versions: Versions) -> Iterator[Outgoing]:
    """The requests as messages, in the order in which a broker must hear them."""
    for broker_id, told in requests.leader_and_isr.items():
        if broker_id in image.brokers:
            message = leader_and_isr(image, broker_id, told, versions)
            yield Outgoing(broker_id, message, versions.leader_and_isr)
    yield from update_metadata(image, requests, versions)
    for broker_id, told in requests.stop.items():
        if broker_id in image.brokers:
            for stop in stop_replica(image, broker_id, told, versions.stop_replica):
                yield Outgoing(broker_id, stop, versions.stop_replica)


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[TopicPartition]]:
    grouped: dict[str, list[TopicPartition]] = {}
    for where in partitions:
        grouped.setdefault(where.topic, []).append(where)
    return grouped


def leader_and_isr(
    image: Image, broker_id: int, told: dict[TopicPartition, bool], versions: Versions
) -> LeaderAndIsrRequest:
    version = versions.leader_and_isr
    states = {
        where: replica_state(image, where, version, is_new=is_new)
        for where, is_new in told.items()
        if where in image.states
    }
    topics = [
        LeaderAndIsrTopicState(
            topic_name=topic,
            topic_id=image.topic_id(topic),
            partition_states=[states[where] for where in partitions],
        )
        for topic, partitions in by_topic(states).items()
    ]
    is_grouped = version >= GROUPED_LEADER_AND_ISR
    return LeaderAndIsrRequest(
        controller_id=image.controller_id,
        controller_epoch=image.epoch,
        broker_epoch=image.brokers[broker_id].epoch,
        ungrouped_partition_states=[] if is_grouped else list(states.values()),
        topic_states=topics if is_grouped else [],
        live_leaders=live_leaders(image, states, versions.listener),
    )


def replica_state(
    image: Image, where: TopicPartition, version: int, *, is_new: bool
) -> LeaderAndIsrPartitionState:
    state, assignment = image.states[where], image.assignment(where)
    assert assignment is not None
    return LeaderAndIsrPartitionState(
        topic_name=where.topic,
        partition_index=where.partition,
        controller_epoch=state.controller_epoch,
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        isr=list(state.isr),
        partition_epoch=state.version,
        replicas=list(assignment.replicas),
        adding_replicas=list(assignment.adding),
        removing_replicas=list(assignment.removing),
        is_new=is_new,
        leader_recovery_state=state.recovery if version >= WITH_RECOVERY_STATE else 0,
    )


def live_leaders(
    image: Image, partitions: Iterable[TopicPartition], listener: str
) -> list[LeaderAndIsrLiveLeader]:
    """Where the leaders can be reached by other brokers."""
    ids = dict.fromkeys(image.states[where].leader for where in partitions)
    found = []
    for broker_id in ids:
        live = image.brokers.get(broker_id)
        endpoint = live.registration.endpoint(listener) if live else None
        if endpoint is not None:
            leader = LeaderAndIsrLiveLeader(
                broker_id=broker_id, host_name=endpoint.host, port=endpoint.port
            )
            found.append(leader)
    return found


def update_metadata(image: Image, requests: Requests, versions: Versions) -> Iterator[Outgoing]:
    version = versions.update_metadata
    states = {it: metadata_state(image, it) for it in requests.metadata_of if it in image.states}
    brokers = [metadata_broker(image, broker_id) for broker_id in image.broker_ids()]
    topics = [
        UpdateMetadataTopicState(
            topic_name=topic,
            topic_id=image.topic_id(topic),
            partition_states=[states[where] for where in partitions],
        )
        for topic, partitions in by_topic(states).items()
    ]
    is_grouped = version >= GROUPED_UPDATE_METADATA
    for broker_id in image.broker_ids() if requests.metadata_to_all else requests.metadata_to:
        if broker_id in image.brokers:
            message = UpdateMetadataRequest(
                controller_id=image.controller_id,
                controller_epoch=image.epoch,
                broker_epoch=image.brokers[broker_id].epoch,
                ungrouped_partition_states=[] if is_grouped else list(states.values()),
                topic_states=topics if is_grouped else [],
                live_brokers=brokers,
            )
            yield Outgoing(broker_id, message, version)


def metadata_state(image: Image, where: TopicPartition) -> UpdateMetadataPartitionState:
    state, replicas = image.states[where], image.replicas(where)
    is_gone = image.is_being_deleted(where.topic)
    return UpdateMetadataPartitionState(
        topic_name=where.topic,
        partition_index=where.partition,
        controller_epoch=state.controller_epoch,
        leader=BEING_DELETED if is_gone else state.leader,
        leader_epoch=0 if is_gone else state.leader_epoch,
        isr=list(state.isr),
        zk_version=0 if is_gone else state.version,
        replicas=list(replicas),
        offline_replicas=[it for it in replicas if not image.is_online(it, where)],
    )


def metadata_broker(image: Image, broker_id: int) -> UpdateMetadataBroker:
    registration = image.brokers[broker_id].registration
    plain = registration.endpoint(SecurityProtocol.PLAINTEXT.value)
    return UpdateMetadataBroker(
        id=broker_id,
        v0_host=plain.host if plain else "",
        v0_port=plain.port if plain else -1,
        endpoints=[
            UpdateMetadataEndpoint(
                port=it.port,
                host=it.host,
                listener=it.name,
                security_protocol=PROTOCOL_IDS[it.protocol],
            )
            for it in registration.endpoints
        ],
        rack=registration.rack,
    )


def stop_replica(
    image: Image, broker_id: int, told: dict[TopicPartition, bool], version: int
) -> Iterator[StopReplicaRequest]:
    """One message; in old versions one for what is deleted and one for what is not."""
    if version >= EACH_SAYS_WHETHER_TO_DELETE:
        yield StopReplicaRequest(
            controller_id=image.controller_id,
            controller_epoch=image.epoch,
            broker_epoch=image.brokers[broker_id].epoch,
            topic_states=[stop_topic(image, *it, told) for it in by_topic(told).items()],
        )
        return
    for delete in (True, False):
        listed = [where for where, is_deleted in told.items() if is_deleted is delete]
        if listed:
            yield old_stop_replica(image, broker_id, listed, version, delete=delete)


def stop_topic(
    image: Image,
    topic: str,
    partitions: Iterable[TopicPartition],
    told: dict[TopicPartition, bool],
) -> StopReplicaTopicState:
    states = [
        StopReplicaPartitionState(
            partition_index=where.partition,
            leader_epoch=image.leader_epoch(where),
            delete_partition=told[where],
        )
        for where in partitions
    ]
    return StopReplicaTopicState(topic_name=topic, partition_states=states)


def old_stop_replica(
    image: Image, broker_id: int, listed: list[TopicPartition], version: int, *, delete: bool
) -> StopReplicaRequest:
    is_grouped = version >= GROUPED_STOP_REPLICA
    topics = [
        StopReplicaTopicV1(name=topic, partition_indexes=[it.partition for it in partitions])
        for topic, partitions in by_topic(listed).items()
    ]
    ungrouped = [
        StopReplicaPartitionV0(topic_name=it.topic, partition_index=it.partition) for it in listed
    ]
    return StopReplicaRequest(
        controller_id=image.controller_id,
        controller_epoch=image.epoch,
        broker_epoch=image.brokers[broker_id].epoch,
        delete_partitions=delete,
        ungrouped_partitions=[] if is_grouped else ungrouped,
        topics=topics if is_grouped else [],
    )
