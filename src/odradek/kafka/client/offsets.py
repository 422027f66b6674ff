"""Offsets by time: ListOffsets, asked of the leaders, as often as it takes.

-2 stands for the earliest offset and -1 for the latest. The latest is the high watermark, or the
last stable offset for whoever reads committed data only. A time gives the first offset whose
record is at least that late, and nothing if there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from odradek.kafka.client.addresses import Address
from odradek.kafka.client.cluster import Cluster, Leader
from odradek.kafka.client.errors import (
    BrokerRefused,
    ConnectionLost,
    TopicPartition,
    is_retriable,
    name_of,
)
from odradek.kafka.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)

EARLIEST, LATEST = -2, -1
NO_OFFSET = -1
CONSUMER = -1  # The replica id of whoever is no replica.


class _Asked(NamedTuple):
    partition: TopicPartition
    leader: Leader
    timestamp: int


def list_offsets(
    cluster: Cluster, times: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int | None]:
    """The offset that each time stands for; None where a time is later than all records."""
    found: dict[TopicPartition, int | None] = {}
    patience = cluster.patience("offsets by time")
    while True:
        wanted = {p: time for p, time in times.items() if p not in found}
        if not wanted:
            return found
        trouble = _ask_leaders(cluster, wanted, found)
        if trouble:
            patience.pause(trouble)


def _ask_leaders(
    cluster: Cluster,
    wanted: Mapping[TopicPartition, int],
    found: dict[TopicPartition, int | None],
) -> str | None:
    """Ask each leader once; say what went wrong, if anything did."""
    by_leader: dict[Address, list[_Asked]] = {}
    trouble = None
    for partition, time in wanted.items():
        led = cluster.leader_of(partition)
        if led is None:
            cluster.forget(partition.topic)
            trouble = f"{partition} has no leader"
        else:
            by_leader.setdefault(led[0], []).append(_Asked(partition, led[1], time))
    for address, asked in by_leader.items():
        trouble = _ask_leader(cluster, address, asked, found) or trouble
    return trouble


def _ask_leader(
    cluster: Cluster,
    address: Address,
    asked: list[_Asked],
    found: dict[TopicPartition, int | None],
) -> str | None:
    try:
        with cluster.brokers.lend(address) as connection:
            response = connection.request(_request(cluster, asked), ListOffsetsResponse)
    except ConnectionLost as error:
        for topic in {one.partition.topic for one in asked}:
            cluster.forget(topic)
        return str(error)
    return _learn(cluster, response, found)


def _request(cluster: Cluster, asked: list[_Asked]) -> ListOffsetsRequest:
    topics: dict[str, list[ListOffsetsPartition]] = {}
    for partition, leader, time in asked:
        topics.setdefault(partition.topic, []).append(
            ListOffsetsPartition(
                partition_index=partition.partition,
                current_leader_epoch=leader.epoch,
                timestamp=time,
            )
        )
    return ListOffsetsRequest(
        replica_id=CONSUMER,
        isolation_level=cluster.settings.isolation_level,
        topics=[ListOffsetsTopic(name=name, partitions=ps) for name, ps in topics.items()],
    )


def _learn(
    cluster: Cluster, response: ListOffsetsResponse, found: dict[TopicPartition, int | None]
) -> str | None:
    trouble = None
    for topic in response.topics:
        for answer in topic.partitions:
            partition = TopicPartition(topic.name, answer.partition_index)
            if not answer.error_code:
                # Version 0 answers a list, from the largest down.
                old_style = answer.old_style_offsets
                offset = old_style[0] if old_style else answer.offset
                found[partition] = None if offset == NO_OFFSET else offset
            elif is_retriable(answer.error_code):
                cluster.forget(topic.name)
                trouble = f"{partition}: {name_of(answer.error_code)}"
            else:
                raise BrokerRefused(f"offsets of {partition}", answer.error_code)
    return trouble
