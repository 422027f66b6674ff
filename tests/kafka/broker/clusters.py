"""What stories about clusters have in common: to make topics, see states, ask for an ISR."""

from __future__ import annotations

import json
from typing import Any

from odradek.kafka.broker.topics import create_topic
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartitionData,
    AlterPartitionRequestTopicData,
    AlterPartitionResponse,
    BrokerState,
)
from tests.kafka.broker.members import Cluster, Member

WHERE = TopicPartition("t", 0)


def make(cluster: Cluster, replicas: dict[int, list[int]], topic: str = "t", **texts: str) -> bytes:
    """Create a topic as the API does, and wait until all brokers have heard of it."""
    overrides = {key.replace("_", "."): text for key, text in texts.items()}
    keeper = cluster.controller.keeper
    made = cluster.do(
        cluster.controller.id, lambda: create_topic(keeper, topic, replicas, overrides)
    )
    assert isinstance(made, bytes)
    cluster.until(
        lambda: all(len(m.metadata.topics.get(topic, ())) == len(replicas) for m in live(cluster))
    )
    return made


def live(cluster: Cluster) -> list[Member]:
    return [it for it in cluster.members.values() if cluster.world.host(f"b{it.id}").is_running]


def state(cluster: Cluster, where: TopicPartition = WHERE) -> dict[str, Any]:
    path = f"/brokers/topics/{where.topic}/partitions/{where.partition}/state"
    value: dict[str, Any] = json.loads(cluster.read(path))
    return value


def led_by(cluster: Cluster, leader: int, where: TopicPartition = WHERE) -> bool:
    """Whether every broker that lives believes so."""
    found = [it.metadata.partition(*where) for it in live(cluster)]
    return all(it is not None and it.leader == leader for it in found)


def ask_for_isr(
    cluster: Cluster, leader: int, isr: list[int], **other: Any
) -> AlterPartitionResponse:
    """What a leader asks of the controller, by way of a socket if it must."""
    member = cluster.members[leader]
    known = member.metadata.partition(*WHERE)
    assert known is not None
    wanted = AlterPartitionRequestPartitionData(
        partition_index=0,
        leader_epoch=other.get("leader_epoch", known.leader_epoch),
        new_isr_with_epochs=[BrokerState(broker_id=it) for it in isr],
        partition_epoch=other.get("partition_epoch", known.zk_version),
    )
    topic_id = other.get("topic_id", member.metadata.topic_id("t"))
    request = AlterPartitionRequest(
        broker_id=leader,
        broker_epoch=other.get("broker_epoch", member.keeper.epoch),
        topics=[AlterPartitionRequestTopicData(topic_id=topic_id, partitions=[wanted])],
    )
    answer = cluster.do(leader, lambda: member.channel.ask(request, 3))
    assert isinstance(answer, AlterPartitionResponse)
    return answer
