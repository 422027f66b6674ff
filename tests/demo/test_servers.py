"""Who does what is read from what brokers say, and an earlier demo's directory is let alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.demo.servers import Servers, roles_of
from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from odradek.local.errors import ForeignDirectory


def partition(index: int, leader: int, isr: list[int]) -> MetadataResponsePartition:
    return MetadataResponsePartition(
        error_code=0,
        partition_index=index,
        leader_id=leader,
        replica_nodes=[1, 2, 3],
        isr_nodes=isr,
    )


def test_roles_name_the_controller_the_leaders_and_who_lacks_a_replica() -> None:
    orders = [partition(0, 2, [1, 2, 3]), partition(1, 3, [3, 2])]
    revenue = [partition(0, 2, [2])]
    said = MetadataResponse(
        brokers=[],
        controller_id=2,
        topics=[
            MetadataResponseTopic(error_code=0, name="revenue", partitions=revenue),
            MetadataResponseTopic(error_code=0, name="orders", partitions=orders),
        ],
    )
    roles = roles_of(said)
    assert roles.controller_id == 2
    assert list(map(str, roles.led_by(2))) == ["orders-0", "revenue-0"]
    assert roles.led_by(1) == []
    assert set(roles.lagging) == {TopicPartition("orders", 1), TopicPartition("revenue", 0)}


def test_a_directory_with_an_earlier_demo_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cluster").mkdir()
    with pytest.raises(ForeignDirectory, match="earlier demo"):
        Servers(tmp_path)
