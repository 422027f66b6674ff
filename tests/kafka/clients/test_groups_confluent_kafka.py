"""Consumer groups of librdkafka: members come, go, crash and hang, and nothing is read twice."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from confluent_kafka import (
    Consumer,
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient

from tests.kafka.clients.members import (
    QUICK,
    WAIT_S,
    child,
    make_topic,
    members,
    send,
    shares,
    until_shared,
)
from tests.kafka.server.running import RunningBroker
from tests.waiting import wait_until

Named = Callable[[], str]


@pytest.fixture
def topic(coordinator: RunningBroker, name: Named) -> str:
    return make_topic(coordinator, name(), 4)


@pytest.fixture
def admin(coordinator: RunningBroker) -> AdminClient:
    return AdminClient({"bootstrap.servers": coordinator.address})


def standing(broker: RunningBroker, group: str, **more: object) -> Consumer:
    """A consumer that assigns its partitions itself."""
    return Consumer({"bootstrap.servers": broker.address, "group.id": group, **QUICK, **more})


def test_members_share_the_partitions_and_take_over_from_who_leaves(
    coordinator: RunningBroker, topic: str
) -> None:
    with members(coordinator, topic, topic) as (first,):
        until_shared([first], 4)
        with members(coordinator, topic, topic, 2) as (second, third):
            until_shared([first, second, third], 1, 1, 2)
        until_shared([first], 4)


def test_what_one_member_committed_the_next_does_not_read(
    coordinator: RunningBroker, topic: str
) -> None:
    send(coordinator, topic, b"1", b"2", b"3")
    with members(coordinator, topic, topic) as (first,):
        wait_until(lambda: shares([first], 4) and len(first.values) == 3)
        first.consumer.commit(asynchronous=False)
    send(coordinator, topic, b"4")
    with members(coordinator, topic, topic) as (second,):
        wait_until(lambda: shares([second], 4) and second.values)
        assert second.values == [b"4"]


def test_who_crashes_is_replaced_after_its_session(coordinator: RunningBroker, topic: str) -> None:
    with members(coordinator, topic, topic) as those, child(coordinator, topic, topic) as other:
        until_shared(those, 2)
        other.kill()
        until_shared(those, 4)


def test_who_hangs_is_replaced_and_may_come_back(coordinator: RunningBroker, topic: str) -> None:
    with members(coordinator, topic, topic) as those, child(coordinator, topic, topic) as other:
        until_shared(those, 2)
        other.hang()
        until_shared(those, 4)
        other.go_on()
        until_shared(those, 2)


def test_a_static_member_that_restarts_in_time_moves_nothing(
    coordinator: RunningBroker, topic: str
) -> None:
    settings: dict[str, object] = {"session_timeout_ms": 15_000}
    with members(coordinator, topic, topic, group_instance_id="a", **settings) as (first,):
        with members(coordinator, topic, topic, group_instance_id="b", **settings) as (second,):
            until_shared([first, second], 2, 2)
            kept, moves = first.partitions, (list(first.assigned), list(first.revoked))
        with members(coordinator, topic, topic, group_instance_id="b", **settings) as (again,):
            wait_until(lambda: shares([first, again], 2, 2))
            assert again.partitions == {0, 1, 2, 3} - kept
            assert (first.assigned, first.revoked) == moves


def test_of_two_static_members_with_one_id_the_older_is_fenced(
    coordinator: RunningBroker, topic: str
) -> None:
    given = {"group.instance.id": "a"}
    older = standing(coordinator, topic, **given)
    older.subscribe([topic])
    wait_until(lambda: older.poll(0.02) is None and older.assignment())
    with members(coordinator, topic, topic, group_instance_id="a") as (newer,):
        errors: list[int] = []

        def is_fenced() -> bool:
            newer.poll()
            message = older.poll(0.02)
            if message is not None and message.error():
                errors.append(message.error().code())
            return KafkaError._FATAL in errors

        wait_until(is_fenced)
        until_shared([newer], 4)
    older.close()


def test_cooperative_members_give_up_only_what_others_get(
    coordinator: RunningBroker, topic: str
) -> None:
    strategy = {"partition_assignment_strategy": "cooperative-sticky"}
    with members(coordinator, topic, topic, **strategy) as (first,):
        until_shared([first], 4)
        with members(coordinator, topic, topic, **strategy) as (second,):
            until_shared([first, second], 2, 2)
            assert sorted(map(len, first.revoked)) == [2]
            assert set(first.revoked[0]) == second.partitions


@pytest.mark.parametrize(("reset", "value"), [("earliest", b"old"), ("latest", b"new")])
def test_a_group_without_offsets_begins_where_its_reset_says(
    coordinator: RunningBroker, topic: str, reset: str, value: bytes
) -> None:
    send(coordinator, topic, b"old")
    where = TopicPartition(topic, 0)
    with members(coordinator, topic, topic, auto_offset_reset=reset) as (member,):

        def is_placed() -> bool:
            """Whether something was fetched, so that the reader knows where it is."""
            member.poll()
            low_high = member.consumer.get_watermark_offsets(where, cached=True)
            return low_high is not None and low_high[1] >= 0

        wait_until(is_placed)
        send(coordinator, topic, b"new")
        wait_until(lambda: shares([member], 4) and member.values)
        assert member.values[0] == value


def test_an_offset_beyond_the_end_is_reset(coordinator: RunningBroker, topic: str) -> None:
    send(coordinator, topic, b"only")
    consumer = standing(coordinator, topic)
    consumer.commit(offsets=[TopicPartition(topic, 0, 1000)], asynchronous=False)
    consumer.close()
    with members(coordinator, topic, topic) as (member,):
        wait_until(lambda: shares([member], 4) and member.values)
        assert member.values == [b"only"]


def test_metadata_comes_back_with_its_offset(coordinator: RunningBroker, topic: str) -> None:
    consumer = standing(coordinator, topic)
    text = "how far we are: ½, \N{GREEK SMALL LETTER OMEGA}"
    consumer.commit(offsets=[TopicPartition(topic, 2, 17, text)], asynchronous=False)
    (committed,) = consumer.committed([TopicPartition(topic, 2)], WAIT_S)
    assert (committed.offset, committed.metadata) == (17, text)
    (other,) = consumer.committed([TopicPartition(topic, 1)], WAIT_S)
    assert other.offset == -1001
    consumer.close()


def test_metadata_that_is_too_long_is_refused(coordinator: RunningBroker, topic: str) -> None:
    consumer = standing(coordinator, topic)
    with pytest.raises(KafkaException) as refused:
        consumer.commit(offsets=[TopicPartition(topic, 0, 1, "x" * 5000)], asynchronous=False)
    assert refused.value.args[0].code() == KafkaError.OFFSET_METADATA_TOO_LARGE
    consumer.close()


def test_groups_are_listed_described_and_deleted(
    coordinator: RunningBroker, topic: str, admin: AdminClient
) -> None:
    group = f"group-of-{topic}"

    def state() -> ConsumerGroupState:
        return admin.describe_consumer_groups([group])[group].result(WAIT_S).state

    with members(coordinator, group, topic, client_id="somebody") as (member,):
        until_shared([member], 4)
        described = admin.describe_consumer_groups([group])[group].result(WAIT_S)
        assert described.state == ConsumerGroupState.STABLE
        assert described.partition_assignor == "range"
        (only,) = described.members
        assert (only.client_id, only.host) == ("somebody", "/127.0.0.1")
        assert {each.partition for each in only.assignment.topic_partitions} == {0, 1, 2, 3}
        with pytest.raises(KafkaException) as refused:
            admin.delete_consumer_groups([group])[group].result(WAIT_S)
        assert refused.value.args[0].code() == KafkaError.NON_EMPTY_GROUP
        member.consumer.commit(offsets=[TopicPartition(topic, 0, 3)], asynchronous=False)
    assert state() == ConsumerGroupState.EMPTY
    listed = admin.list_consumer_groups().result(WAIT_S)
    assert group in [each.group_id for each in listed.valid]
    admin.delete_consumer_groups([group])[group].result(WAIT_S)
    assert state() == ConsumerGroupState.DEAD
    listed = admin.list_consumer_groups().result(WAIT_S)
    assert group not in [each.group_id for each in listed.valid]


def test_offsets_of_a_group_are_read_and_altered_by_tools(
    coordinator: RunningBroker, topic: str, admin: AdminClient
) -> None:
    def wanted(offset: int) -> ConsumerGroupTopicPartitions:
        return ConsumerGroupTopicPartitions(topic, [TopicPartition(topic, 1, offset)])

    admin.alter_consumer_group_offsets([wanted(23)])[topic].result(WAIT_S)
    asked = ConsumerGroupTopicPartitions(topic)
    (found,) = admin.list_consumer_group_offsets([asked]).values()
    assert [(it.partition, it.offset) for it in found.result(WAIT_S).topic_partitions] == [(1, 23)]
    with members(coordinator, topic, topic) as those:
        until_shared(those, 4)
        answer = admin.alter_consumer_group_offsets([wanted(1)])[topic].result(WAIT_S)
        (refused,) = answer.topic_partitions
        assert refused.error.code() == KafkaError.UNKNOWN_MEMBER_ID
