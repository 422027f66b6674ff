"""What brokers are told: as Apache's controller tells it, byte for byte where we saw it."""

from __future__ import annotations

from typing import TypeVar

import pytest

from odradek.kafka.controller.image import Assignment, Deletion, Image, LiveBroker, PartitionState
from odradek.kafka.controller.registration import Registration
from odradek.kafka.controller.requests import Outgoing, Requests, messages
from odradek.kafka.controller.versions import Versions, versions_for
from odradek.kafka.settings.endpoints import Endpoint, SecurityProtocol
from odradek.kafka.settings.versions import read_version
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.codec import decode, encode
from odradek.kafka.wire.messages.leader_and_isr import LeaderAndIsrRequest
from odradek.kafka.wire.messages.stop_replica import StopReplicaRequest
from odradek.kafka.wire.messages.update_metadata import UpdateMetadataRequest
from odradek.kafka.wire.schema import Message
from tests.kafka.controller.images import T0, TOPIC_ID, image, state
from tests.kafka.wire.test_connection import REQUESTS

M = TypeVar("M", bound=Message)
NEWEST = Versions("PLAINTEXT")
MIX_ID = bytes.fromhex("6b1043d544da40639c8a285f1d25c596")
HEADER_BYTES = 2 + 2 + 4 + 3 + 1  # Key, version, correlation id, client id "7", no tags.


def apaches_cluster() -> Image:
    """What controller 7 of the recorded requests knew of its cluster."""
    cluster = Image(7, 2, 2)
    for broker_id, port, epoch, rack in ((7, 39092, 90, "r1"), (8, 39093, 178, None)):
        endpoint = Endpoint("PLAINTEXT", "127.0.0.1", port, SecurityProtocol.PLAINTEXT)
        cluster.brokers[broker_id] = LiveBroker(Registration(broker_id, (endpoint,), rack), epoch)
    cluster.put_topic("mix", MIX_ID, {0: Assignment((8, 7)), 1: Assignment((7, 8))})
    cluster.states[TopicPartition("mix", 0)] = PartitionState(8, 0, (8, 7), 2)
    cluster.states[TopicPartition("mix", 1)] = PartitionState(7, 0, (7, 8), 2)
    return cluster


def recorded(name: str) -> bytes:
    (data,) = [data for title, data in REQUESTS.items() if title.startswith(name)]
    return data[HEADER_BYTES:]


def to_8(cluster: Image, requests: Requests, kind: type[M]) -> M:
    (found,) = [
        it.message
        for it in messages(cluster, requests, NEWEST)
        if it.broker_id == 8 and isinstance(it.message, kind)
    ]
    assert isinstance(found, kind)
    return found


def through_bytes(message: Message, version: int) -> Message:
    return decode(type(message), version, b"".join(encode(message, version)))


def test_a_new_topic_is_told_as_apache_tells_it() -> None:
    cluster, requests = apaches_cluster(), Requests()
    for where in cluster.partitions("mix"):
        requests.lead_or_follow([7, 8], where, is_new=True)
    order = to_8(cluster, requests, LeaderAndIsrRequest)
    assert b"".join(encode(order, 7)) == recorded("kafka LeaderAndIsr v7 request #1")
    news = to_8(cluster, requests, UpdateMetadataRequest)
    assert b"".join(encode(news, 8)) == recorded("kafka UpdateMetadata v8 request #2")


def test_a_deletion_is_told_as_apache_tells_it() -> None:
    cluster, requests = apaches_cluster(), Requests()
    cluster.deletions["mix"] = Deletion()
    for where in cluster.partitions("mix"):
        requests.stop_replica(8, where, delete=True)
    order = to_8(cluster, requests, StopReplicaRequest)
    assert b"".join(encode(order, 4)) == recorded("kafka StopReplica v4 request #2")


def test_a_broker_hears_what_to_do_before_everybody_knows() -> None:
    cluster, requests = image([1], {0: [1]}, {0: state(1, [1])}), Requests()
    requests.stop_replica(1, T0, delete=False)
    requests.lead_or_follow([1], T0)
    kinds = [type(it.message) for it in messages(cluster, requests, NEWEST)]
    assert kinds == [LeaderAndIsrRequest, UpdateMetadataRequest, StopReplicaRequest]


def test_who_is_gone_is_told_nothing() -> None:
    cluster, requests = image([1], {0: [1, 2]}, {0: state(1, [1])}), Requests()
    requests.lead_or_follow([1, 2], T0)
    requests.stop_replica(2, T0, delete=True)
    assert {it.broker_id for it in messages(cluster, requests, NEWEST)} == {1}


def test_each_broker_is_addressed_in_its_present_life() -> None:
    cluster, requests = image([1, 2], {0: [1]}, {0: state(1, [1])}), Requests()
    cluster.brokers[2] = cluster.brokers[2]._replace(epoch=222)
    requests.tell_all([T0])
    epochs = {it.broker_id: getattr(it.message, "broker_epoch") for it in told(cluster, requests)}  # noqa: B009
    assert epochs == {1: 100, 2: 222}


def told(cluster: Image, requests: Requests) -> list[Outgoing]:
    return list(messages(cluster, requests, NEWEST))


def test_a_topic_that_is_to_go_has_the_leader_minus_two() -> None:
    cluster, requests = image([1], {0: [1]}, {0: state(1, [1])}), Requests()
    cluster.deletions["t"] = Deletion()
    requests.tell_all([T0])
    (outgoing,) = told(cluster, requests)
    assert isinstance(outgoing.message, UpdateMetadataRequest)
    (partition,) = outgoing.message.topic_states[0].partition_states
    assert (partition.leader, partition.isr) == (-2, [1])


def test_replicas_that_cannot_be_reached_are_named() -> None:
    cluster, requests = image([1], {0: [1, 2]}, {0: state(1, [1])}), Requests()
    requests.tell_all([T0])
    (outgoing,) = told(cluster, requests)
    assert isinstance(outgoing.message, UpdateMetadataRequest)
    assert outgoing.message.topic_states[0].partition_states[0].offline_replicas == [2]


def test_once_new_and_once_deleted_stays_so_within_one_batch() -> None:
    requests = Requests()
    requests.lead_or_follow([1], T0, is_new=True)
    requests.lead_or_follow([1], T0)
    requests.stop_replica(1, T0, delete=True)
    requests.stop_replica(1, T0, delete=False)
    assert requests.leader_and_isr == {1: {T0: True}}
    assert requests.stop == {1: {T0: True}}


PROTOCOLS = {
    "3.9": (7, 8, 4, 3),
    "3.2": (6, 7, 3, 3),
    "2.8-IV1": (5, 7, 3, 3),
    "2.4-IV1": (4, 6, 2, 3),
    "2.2": (2, 5, 1, 2),
    "1.1": (1, 4, 0, 1),
    "0.10.2": (0, 3, 0, 1),
    "0.8.2": (0, 0, 0, 0),
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_older_protocols_are_spoken_in_older_versions(protocol: str) -> None:
    versions = versions_for(read_version(protocol), "PLAINTEXT")
    assert (
        versions.leader_and_isr,
        versions.update_metadata,
        versions.stop_replica,
        versions.controlled_shutdown,
    ) == PROTOCOLS[protocol]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_version_carries_what_must_be_known(protocol: str) -> None:
    cluster, requests = (
        image([1], {0: [1], 1: [1]}, {0: state(1, [1]), 1: state(1, [1])}),
        Requests(),
    )
    where = TopicPartition("t", 1)
    requests.lead_or_follow([1], T0)
    requests.stop_replica(1, T0, delete=True)
    requests.stop_replica(1, where, delete=False)
    versions = versions_for(read_version(protocol), "PLAINTEXT")
    deleted: set[int] = set()
    kept: set[int] = set()
    for outgoing in messages(cluster, requests, versions):
        read = through_bytes(outgoing.message, outgoing.version)
        match read:
            case LeaderAndIsrRequest():
                listed = [*read.ungrouped_partition_states]
                listed += [it for topic in read.topic_states for it in topic.partition_states]
                assert [(it.partition_index, it.leader) for it in listed] == [(0, 1)]
            case UpdateMetadataRequest():
                (known,) = read.live_brokers
                assert known.endpoints or (known.v0_host, known.v0_port) == ("h1", 9092)
            case StopReplicaRequest():
                for it in read.topic_states:
                    for one in it.partition_states:
                        (deleted if one.delete_partition else kept).add(one.partition_index)
                indexes = [it.partition_index for it in read.ungrouped_partitions]
                indexes += [index for old in read.topics for index in old.partition_indexes]
                (deleted if read.delete_partitions else kept).update(indexes)
    assert (deleted, kept) == ({0}, {1})
    assert TOPIC_ID in cluster.names
