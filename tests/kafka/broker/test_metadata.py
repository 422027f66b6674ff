"""What a broker knows of its cluster, as it is told bit by bit."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from odradek.kafka.broker.metadata import Metadata
from odradek.kafka.settings.endpoints import SecurityProtocol
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.codec import decode, encode
from odradek.kafka.wire.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from odradek.simulation.processes import Environment
from odradek.simulation.world import run

TOPIC_ID = bytes(range(16))
CLIENTS = UpdateMetadataEndpoint(port=1, host="h", listener="CLIENTS", security_protocol=3)
PLAIN = UpdateMetadataEndpoint(port=2, host="h", listener="PLAINTEXT", security_protocol=0)


def partition(
    index: int, leader: int = 1, topic: str = "", zk_version: int = 0
) -> UpdateMetadataPartitionState:
    return UpdateMetadataPartitionState(
        topic_name=topic,
        partition_index=index,
        controller_epoch=1,
        leader=leader,
        leader_epoch=0,
        isr=[1],
        zk_version=zk_version,
        replicas=[1],
    )


def update(
    partitions: Iterable[UpdateMetadataPartitionState] = (),
    topic: str = "t",
    topic_id: bytes = TOPIC_ID,
    brokers: Iterable[UpdateMetadataBroker] = (),
) -> UpdateMetadataRequest:
    listed = list(partitions)
    told = UpdateMetadataTopicState(topic_name=topic, topic_id=topic_id, partition_states=listed)
    return UpdateMetadataRequest(
        controller_id=7,
        controller_epoch=3,
        topic_states=[told] if listed else [],
        live_brokers=list(brokers),
    )


def test_an_update_adds_to_what_is_known() -> None:
    metadata = Metadata()
    assert metadata.controller_id == -1
    metadata.update(update([partition(0), partition(1)]))
    metadata.update(update([partition(1, leader=2)]))
    assert metadata.controller_id == 7
    assert {it: state.leader for it, state in metadata.topics["t"].items()} == {0: 1, 1: 2}
    assert metadata.topic_id("t") == TOPIC_ID
    assert metadata.topic_name(TOPIC_ID) == "t"
    assert metadata.partition("t", 9) is metadata.partition("u", 0) is None


def test_the_leader_minus_two_says_that_a_partition_is_gone() -> None:
    metadata, heard = Metadata(), list[list[TopicPartition]]()
    metadata.updated.append(heard.append)
    metadata.update(update([partition(0), partition(1)]))
    metadata.update(update([partition(0, leader=-2)]))
    assert list(metadata.topics["t"]) == [1]
    metadata.update(update([partition(1, leader=-2), partition(5, leader=-2)]))
    assert metadata.topics == {}
    assert metadata.topic_name(TOPIC_ID) is None
    assert metadata.topic_id("t") == bytes(16)
    assert heard == [[], [TopicPartition("t", 0)], [TopicPartition("t", 1)]]


def test_a_topic_made_again_has_another_id() -> None:
    metadata, other = Metadata(), bytes(range(16, 32))
    metadata.update(update([partition(0)]))
    metadata.update(update([partition(0)], topic_id=other))
    assert metadata.topic_name(TOPIC_ID) is None
    assert metadata.topic_name(other) == "t"


def test_what_comes_late_is_not_believed_unless_the_topic_was_made_again() -> None:
    """As it does when a controller had to say it on another connection too."""
    metadata = Metadata()
    broker = UpdateMetadataBroker(id=1, endpoints=[PLAIN], rack=None)
    metadata.update(update([partition(0, leader=2, zk_version=7)], brokers=[broker]))
    metadata.update(update([partition(0, leader=1, zk_version=6), partition(1, zk_version=2)]))
    (known, other) = (metadata.partition("t", index) for index in (0, 1))
    assert known is not None and (known.leader, known.zk_version) == (2, 7)
    assert other is not None and other.zk_version == 2
    assert list(metadata.brokers) == [1]
    metadata.update(update([partition(0, leader=3)], topic_id=bytes(range(1, 17))))
    again = metadata.partition("t", 0)
    assert again is not None and again.leader == 3


def test_the_live_brokers_are_told_anew_each_time() -> None:
    metadata = Metadata()
    both = [
        UpdateMetadataBroker(id=2, endpoints=[PLAIN, CLIENTS], rack="r"),
        UpdateMetadataBroker(id=1, endpoints=[PLAIN], rack=None),
    ]
    metadata.update(update(brokers=both))
    assert [it.id for it, _ in metadata.brokers_at("PLAINTEXT")] == [1, 2]
    assert [it.rack for it, _ in metadata.brokers_at("CLIENTS")] == ["r"]
    endpoint = metadata.endpoint(2, "CLIENTS")
    assert endpoint is not None
    assert (endpoint.port, endpoint.protocol) == (1, SecurityProtocol.SASL_SSL)
    metadata.update(update(brokers=both[1:]))
    assert list(metadata.brokers) == [1]
    assert metadata.endpoint(2, "PLAINTEXT") is metadata.controller_at("PLAINTEXT") is None


def test_every_version_tells_the_same() -> None:
    for version in range(9):
        message = update(brokers=[broker_of(version)])
        if version < 5:
            ungrouped = [partition(0, topic="t"), partition(1, topic="t")]
            message = UpdateMetadataRequest(
                controller_id=7,
                controller_epoch=3,
                ungrouped_partition_states=ungrouped,
                live_brokers=message.live_brokers,
            )
        else:
            message = update([partition(0), partition(1)], brokers=[broker_of(version)])
        metadata = Metadata()
        metadata.update(decode(UpdateMetadataRequest, version, b"".join(encode(message, version))))
        assert list(metadata.topics["t"]) == [0, 1], version
        assert metadata.endpoint(1, "PLAINTEXT") is not None, version


def broker_of(version: int) -> UpdateMetadataBroker:
    if version == 0:
        return UpdateMetadataBroker(id=1, v0_host="h", v0_port=2)
    return UpdateMetadataBroker(id=1, endpoints=[PLAIN])


def test_a_controller_that_was_replaced_is_recognised() -> None:
    metadata = Metadata()
    assert not metadata.is_from_the_past(3)
    assert not metadata.is_from_the_past(3)
    assert metadata.is_from_the_past(2)


def test_who_waits_is_woken_when_it_is_so_or_the_time_is_up() -> None:
    async def main(_: Environment) -> None:
        metadata, loop = Metadata(), asyncio.get_running_loop()
        known = metadata.until(lambda: "t" in metadata.topics, 10)
        never = metadata.until(lambda: "u" in metadata.topics, 10)
        assert not known.done()
        metadata.update(update([partition(0)]))
        assert known.result() is True
        assert await metadata.until(lambda: "t" in metadata.topics, 0) is True
        before = loop.time()
        assert await never is False
        assert 9.9 < loop.time() - before < 10.1

    run(main)


def test_who_gave_up_waiting_is_forgotten() -> None:
    async def main(_: Environment) -> None:
        metadata = Metadata()
        waiter = metadata.until(lambda: "t" in metadata.topics, 10)
        waiter.cancel()
        metadata.update(update([partition(0)]))
        assert waiter.cancelled()

    run(main)
