"""Topics are created, or the reason why not is told for each."""

from __future__ import annotations

import json

from odradek.kafka.settings.sources import Source
from odradek.kafka.settings.topic import TOPIC_BY_KEY
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from tests.kafka.api.administered import Administered, administered

NEWEST = 7


def topic(
    name: str, partitions: int = 1, factor: int = 1, by_hand: tuple[int, ...] = (), **configs: str
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=[broker])
            for index, broker in enumerate(by_hand)
        ],
        configs=[
            CreatableTopicConfig(name=key.replace("_", "."), value=value)
            for key, value in configs.items()
        ],
    )


async def create(
    stage: Administered,
    *asked: CreatableTopic,
    version: int = NEWEST,
    timeout_ms: int = 20_000,
    validate_only: bool = False,
) -> list[CreatableTopicResult]:
    message = CreateTopicsRequest(
        topics=list(asked), timeout_ms=timeout_ms, validate_only=validate_only
    )
    return (await stage.ask(message, version, CreateTopicsResponse)).topics


def codes(results: list[CreatableTopicResult]) -> dict[str, ErrorCode]:
    return {it.name: ErrorCode(it.error_code) for it in results}


@administered()
async def test_a_topic_is_there_and_led_when_the_answer_comes(stage: Administered) -> None:
    for version in range(NEWEST + 1):
        name = f"t{version}"
        (result,) = await create(stage, topic(name, 3, retention_ms="1000"), version=version)
        assert (result.name, result.error_code) == (name, ErrorCode.NONE)
        states = [stage.broker.metadata.partition(name, index) for index in range(3)]
        assert all(it is not None and it.leader == 1 for it in states)
        assert all(stage.broker.partitions.get(name, index) for index in range(3))
    node = await stage.broker.keeper.read("/brokers/topics/t7")
    assert node is not None and json.loads(node[0])["partitions"].keys() == {"0", "1", "2"}
    assert await stage.broker.configs.fetch("topics/t7") == {"retention.ms": "1000"}


@administered()
async def test_the_answer_tells_settings_counts_and_id(stage: Administered) -> None:
    (old,) = await create(stage, topic("old"), version=4)
    assert (old.num_partitions, old.configs) == (-1, [])
    (result,) = await create(stage, topic("new", 2, flush_ms="7"))
    assert (result.num_partitions, result.replication_factor) == (2, 1)
    assert result.topic_id == stage.broker.metadata.topic_id("new")
    assert result.configs is not None
    told = {it.name: (it.value, it.config_source) for it in result.configs}
    assert told.keys() == set(TOPIC_BY_KEY)
    assert told["flush.ms"] == ("7", Source.TOPIC)
    assert told["max.message.bytes"] == ("1048588", Source.DEFAULT)


@administered(num_partitions=4)
async def test_minus_one_stands_for_the_brokers_defaults(stage: Administered) -> None:
    (result,) = await create(stage, topic("t", -1, -1))
    assert (result.error_code, result.num_partitions) == (ErrorCode.NONE, 4)


@administered()
async def test_replicas_can_be_assigned_by_hand(stage: Administered) -> None:
    (result,) = await create(stage, topic("t", -1, -1, by_hand=(1, 1)))
    assert (result.error_code, result.num_partitions) == (ErrorCode.NONE, 2)


@administered()
async def test_nothing_is_made_where_it_is_only_to_be_checked(stage: Administered) -> None:
    wrong = topic("wrong", 0)
    results = await create(stage, topic("t", 2), wrong, validate_only=True)
    assert codes(results) == {"t": ErrorCode.NONE, "wrong": ErrorCode.INVALID_PARTITIONS}
    assert (results[0].num_partitions, results[0].topic_id) == (2, bytes(16))
    assert await stage.broker.keeper.children("/brokers/topics") == []


@administered()
async def test_each_topic_is_refused_for_its_own_reason(stage: Administered) -> None:
    await stage.create("orders")
    await stage.create("a.b")
    results = await create(
        stage,
        topic("orders"),
        topic("a_b"),
        topic("no name"),
        topic("many", 1, 2),
        topic("none", 0),
        topic("odd", 1, 1, retention_ms="soon"),
        topic("twice"),
        topic("twice"),
        topic("__cluster_metadata"),
        topic("both", 1, 1, by_hand=(1,)),
        topic("good"),
    )
    assert codes(results) == {
        "orders": ErrorCode.TOPIC_ALREADY_EXISTS,
        "a_b": ErrorCode.INVALID_TOPIC_EXCEPTION,
        "no name": ErrorCode.INVALID_TOPIC_EXCEPTION,
        "many": ErrorCode.INVALID_REPLICATION_FACTOR,
        "none": ErrorCode.INVALID_PARTITIONS,
        "odd": ErrorCode.INVALID_CONFIG,
        "twice": ErrorCode.INVALID_REQUEST,
        "__cluster_metadata": ErrorCode.INVALID_REQUEST,
        "both": ErrorCode.INVALID_REQUEST,
        "good": ErrorCode.NONE,
    }
    assert all(it.error_message for it in results if it.error_code)
    assert all(it.num_partitions == -1 and it.configs == [] for it in results if it.error_code)


@administered()
async def test_the_second_of_two_that_collide_is_refused(stage: Administered) -> None:
    results = await create(stage, topic("x.y"), topic("x_y"))
    assert codes(results) == {"x.y": ErrorCode.NONE, "x_y": ErrorCode.INVALID_TOPIC_EXCEPTION}


@administered()
async def test_who_does_not_wait_is_told_that_time_is_over(stage: Administered) -> None:
    (result,) = await create(stage, topic("t"), timeout_ms=0)
    assert (result.error_code, result.num_partitions) == (ErrorCode.REQUEST_TIMED_OUT, -1)
    await stage.until(lambda: stage.broker.metadata.partition("t", 0))
    assert result.topic_id == stage.broker.metadata.topic_id("t")


@administered()
async def test_a_topic_without_live_replicas_gets_no_leader_in_time(stage: Administered) -> None:
    (result,) = await create(stage, topic("t", -1, -1, by_hand=(9,)), timeout_ms=50)
    assert result.error_code == ErrorCode.REQUEST_TIMED_OUT


@administered()
async def test_many_topics_are_made_at_once(stage: Administered) -> None:
    results = await create(stage, *(topic(f"t{number}") for number in range(100)))
    assert set(codes(results).values()) == {ErrorCode.NONE}
    assert len(stage.broker.metadata.topics) == 100


@administered()
async def test_only_the_controller_makes_topics(stage: Administered) -> None:
    await stage.broker.keeper.forget("/controller")
    stage.broker.controller._resign()
    results = await create(stage, topic("t"))
    assert codes(results) == {"t": ErrorCode.NOT_CONTROLLER}
