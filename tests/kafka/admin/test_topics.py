"""A topic is created as it was asked for, or the asker learns the first thing that is wrong."""

from __future__ import annotations

import pytest

from odradek.kafka.admin.placement import Candidate
from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.admin.topics import Existing, NewTopic, decide_topic
from odradek.kafka.settings.layers import Layers
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
)
from tests.kafka.settings.server_properties import read

LAYERS = Layers(read("num.partitions=3\ndefault.replication.factor=2\n"))
EXISTING = Existing({"orders", "a.b"}, ["leaving"], [Candidate(1), Candidate(2)])


def topic(
    name: str = "new",
    partitions: int = 1,
    factor: int = 1,
    by_hand: dict[int, list[int]] | None = None,
    **configs: str | None,
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=replicas)
            for index, replicas in (by_hand or {}).items()
        ],
        configs=[
            CreatableTopicConfig(name=key.replace("_", "."), value=value)
            for key, value in configs.items()
        ],
    )


def decided(asked: CreatableTopic) -> NewTopic | Refusal:
    return decide_topic(asked, LAYERS, EXISTING, lambda _: 0)


def code(asked: CreatableTopic) -> ErrorCode:
    answer = decided(asked)
    assert isinstance(answer, Refusal), answer
    return answer.code


def test_a_topic_gets_its_replicas_and_its_overrides() -> None:
    asked = topic(partitions=2, retention_ms="1000")
    assert decided(asked) == NewTopic("new", {0: [1], 1: [2]}, {"retention.ms": "1000"})


def test_minus_one_stands_for_what_the_broker_says() -> None:
    answer = decided(topic(partitions=-1, factor=-1))
    assert isinstance(answer, NewTopic)
    assert [len(replicas) for replicas in answer.assignment.values()] == [2, 2, 2]


def test_replicas_can_be_assigned_by_hand_even_to_brokers_that_are_not_there() -> None:
    answer = decided(topic(partitions=-1, factor=-1, by_hand={1: [9], 0: [2]}))
    assert answer == NewTopic("new", {1: [9], 0: [2]}, {})


def test_there_is_but_one_way_to_say_how_many() -> None:
    assert code(topic(partitions=2, factor=-1, by_hand={0: [1]})) is ErrorCode.INVALID_REQUEST
    assert code(topic(partitions=-1, factor=1, by_hand={0: [1]})) is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    "by_hand", [{0: [1], 1: [1, 2]}, {0: [1, 1]}, {1: [1]}, {-1: [1], 0: [1]}, {0: [1], 2: [1]}]
)
def test_an_assignment_is_whole(by_hand: dict[int, list[int]]) -> None:
    asked = topic(partitions=-1, factor=-1, by_hand=by_hand)
    assert code(asked) is ErrorCode.INVALID_REPLICA_ASSIGNMENT


def test_a_topic_is_created_once() -> None:
    assert decided(topic("orders")) == Refusal(
        ErrorCode.TOPIC_ALREADY_EXISTS, "Topic 'orders' already exists."
    )
    assert code(topic("leaving")) is ErrorCode.TOPIC_ALREADY_EXISTS


def test_a_name_must_be_legal_and_not_collide() -> None:
    assert code(topic("a b")) is ErrorCode.INVALID_TOPIC_EXCEPTION
    assert decided(topic("a_b")) == Refusal(
        ErrorCode.INVALID_TOPIC_EXCEPTION, "Topic 'a_b' collides with existing topics: a.b"
    )


def test_numbers_are_looked_at_before_names() -> None:
    assert code(topic("a b", partitions=0)) is ErrorCode.INVALID_PARTITIONS
    assert code(topic("a b", factor=3)) is ErrorCode.INVALID_REPLICATION_FACTOR


def test_overrides_must_be_settings_of_a_topic_with_values_that_they_can_have() -> None:
    assert code(topic(retention_ms="soon")) is ErrorCode.INVALID_CONFIG
    assert code(topic(no_such_key="1")) is ErrorCode.INVALID_CONFIG
    assert decided(topic(retention_ms=None)) == Refusal(
        ErrorCode.INVALID_CONFIG, "Null value not supported for topic configs: retention.ms"
    )
