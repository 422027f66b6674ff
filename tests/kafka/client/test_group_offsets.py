"""A group's offsets by one who is no member of it, on a broker of ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.group_offsets import commit_offsets, committed_offsets
from tests.kafka.client.brokers import broker_address, topics_of
from tests.kafka.client.topics import Topics


@pytest.fixture
def topics(tmp_path: Path) -> Iterator[Topics]:
    with broker_address(tmp_path) as address, topics_of(address) as made:
        yield made


def test_what_is_committed_is_found_and_nothing_else(topics: Topics) -> None:
    topic = topics.create(partitions=3)
    first, second, third = (TopicPartition(topic, number) for number in range(3))
    cluster = topics.cluster
    assert committed_offsets(cluster, "g", [first, second]) == {}
    commit_offsets(cluster, "g", {first: 7, second: 0})
    commit_offsets(cluster, "g", {first: 9})
    assert committed_offsets(cluster, "g", [first, second, third]) == {first: 9, second: 0}
    assert committed_offsets(cluster, "other", [first]) == {}
