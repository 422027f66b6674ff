"""Consumer groups of kafka-python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from kafka import KafkaConsumer, TopicPartition
from kafka.admin import KafkaAdminClient
from kafka.structs import OffsetAndMetadata

from tests.kafka.clients.members import make_topic, send
from tests.kafka.server.running import RunningBroker
from tests.waiting import wait_until

Named = Callable[[], str]
POLL_MS = 300  # In a shorter time it may forget an assignment that is on its way.


@pytest.fixture
def topic(coordinator: RunningBroker, name: Named) -> str:
    return make_topic(coordinator, name(), 4)


@pytest.fixture
def admin(coordinator: RunningBroker) -> Iterator[Any]:
    with closing(KafkaAdminClient(bootstrap_servers=coordinator.address)) as client:
        yield client


def consumer(broker: RunningBroker, group: str, *topics: str, **settings: object) -> Any:
    given: dict[str, object] = {
        "session_timeout_ms": 10_000,
        "heartbeat_interval_ms": 100,
        "metadata_max_age_ms": 500,  # It may share out a topic of which it has not heard yet.
        "enable_auto_commit": False,
        "auto_offset_reset": "earliest",
        **settings,
    }
    return closing(
        KafkaConsumer(*topics, bootstrap_servers=broker.address, group_id=group, **given)
    )


def owned(*those: Any) -> list[int]:
    """Poll all once; how many partitions each has."""
    for each in those:
        each.poll(timeout_ms=POLL_MS)
    return sorted(len(each.assignment()) for each in those)


def test_members_share_the_partitions(coordinator: RunningBroker, topic: str) -> None:
    with consumer(coordinator, topic, topic) as first:
        wait_until(lambda: owned(first) == [4])
        with consumer(coordinator, topic, topic) as second:
            wait_until(lambda: owned(first, second) == [2, 2])
            assert not first.assignment() & second.assignment()
        wait_until(lambda: owned(first) == [4])


def test_a_member_goes_on_where_the_last_one_committed(
    coordinator: RunningBroker, topic: str
) -> None:
    seen: list[bytes] = []

    def read(member: Any) -> list[bytes]:
        for records in member.poll(timeout_ms=POLL_MS).values():
            seen.extend(record.value for record in records)
        return seen

    send(coordinator, topic, b"1", b"2")
    with consumer(coordinator, topic, topic) as first:
        wait_until(lambda: read(first) == [b"1", b"2"])
        first.commit()
    send(coordinator, topic, b"3")
    with consumer(coordinator, topic, topic) as second:
        wait_until(lambda: len(read(second)) > 2)
    assert seen == [b"1", b"2", b"3"]


def test_metadata_and_leader_epochs_come_back(coordinator: RunningBroker, topic: str) -> None:
    where = TopicPartition(topic, 1)
    with consumer(coordinator, topic) as member:
        member.assign([where])
        member.commit({where: OffsetAndMetadata(7, "seven", 0)})
    with consumer(coordinator, topic) as again:
        assert again.committed(where, metadata=True) == OffsetAndMetadata(7, "seven", 0)


def test_groups_are_listed_described_and_deleted(
    coordinator: RunningBroker, topic: str, admin: Any
) -> None:
    with consumer(coordinator, topic, topic) as member:
        wait_until(lambda: owned(member) == [4])
        described = admin.describe_groups([topic])[topic]
        assert described["group_state"] == "Stable"
        assert len(described["members"]) == 1
        member.commit({TopicPartition(topic, 0): OffsetAndMetadata(3, "", -1)})
    assert admin.list_group_offsets(topic)[topic][TopicPartition(topic, 0)].offset == 3
    admin.delete_groups([topic])
    assert topic not in {each["group_id"] for each in admin.list_groups()}
