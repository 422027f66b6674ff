"""Topics grow, and the answer waits until what is new is led."""

from __future__ import annotations

from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from tests.kafka.api.administered import Administered, administered

NEWEST = 3


def topic(name: str, count: int, *by_hand: int) -> CreatePartitionsTopic:
    assignments = [CreatePartitionsAssignment(broker_ids=[it]) for it in by_hand]
    return CreatePartitionsTopic(name=name, count=count, assignments=assignments or None)


async def grow(
    stage: Administered,
    *topics: CreatePartitionsTopic,
    version: int = NEWEST,
    timeout_ms: int = 20_000,
    validate_only: bool = False,
) -> dict[str, ErrorCode]:
    message = CreatePartitionsRequest(
        topics=list(topics), timeout_ms=timeout_ms, validate_only=validate_only
    )
    response = await stage.ask(message, version, CreatePartitionsResponse)
    return {it.name: ErrorCode(it.error_code) for it in response.results}


@administered()
async def test_new_partitions_are_led_when_the_answer_comes(stage: Administered) -> None:
    await stage.create("t")
    topic_id = stage.broker.metadata.topic_id("t")
    for version in range(NEWEST + 1):
        assert await grow(stage, topic("t", version + 2), version=version) == {"t": ErrorCode.NONE}
        state = stage.broker.metadata.partition("t", version + 1)
        assert state is not None and state.leader == 1
        assert stage.broker.partitions.get("t", version + 1) is not None
    assert stage.broker.metadata.topic_id("t") == topic_id


@administered()
async def test_each_topic_is_refused_for_its_own_reason(stage: Administered) -> None:
    await stage.create("two", 2)
    await stage.create("one")
    codes = await grow(
        stage, topic("two", 1), topic("one", 2, 9), topic("none", 3), topic("x", 1), topic("x", 1)
    )
    assert codes == {
        "two": ErrorCode.INVALID_PARTITIONS,
        "one": ErrorCode.INVALID_REPLICA_ASSIGNMENT,
        "none": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        "x": ErrorCode.INVALID_REQUEST,
    }


@administered()
async def test_replicas_can_be_assigned_by_hand(stage: Administered) -> None:
    await stage.create("t")
    assert await grow(stage, topic("t", 3, 1, 1)) == {"t": ErrorCode.NONE}
    assert len(stage.broker.metadata.topics["t"]) == 3


@administered()
async def test_nothing_grows_where_it_is_only_to_be_checked(stage: Administered) -> None:
    await stage.create("t")
    assert await grow(stage, topic("t", 3), validate_only=True) == {"t": ErrorCode.NONE}
    assert len(stage.broker.metadata.topics["t"]) == 1


@administered()
async def test_who_does_not_wait_is_told_that_time_is_over(stage: Administered) -> None:
    await stage.create("t")
    assert await grow(stage, topic("t", 2), timeout_ms=0) == {"t": ErrorCode.REQUEST_TIMED_OUT}
    await stage.until(lambda: stage.broker.metadata.partition("t", 1))
