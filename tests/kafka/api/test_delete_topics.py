"""Topics go, and the answer waits until they are gone."""

from __future__ import annotations

import asyncio

from odradek.kafka.storage.checkpoints import START_OFFSETS, read_offsets
from odradek.kafka.storage.directory import CHECKPOINTS
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from odradek.kafka.wire.schema import ZERO_UUID
from tests.kafka.api.administered import Administered, administered
from tests.kafka.storage.logs import put

NEWEST = 6
UNKNOWN_ID = b"\7" * 16


async def delete(
    stage: Administered,
    *names: str,
    ids: tuple[bytes, ...] = (),
    version: int = NEWEST,
    timeout_ms: int = 20_000,
) -> list[DeletableTopicResult]:
    by_name = [DeleteTopicState(name=name, topic_id=ZERO_UUID) for name in names]
    by_id = [DeleteTopicState(name=None, topic_id=it) for it in ids]
    message = DeleteTopicsRequest(
        topics=by_name + by_id if version >= NEWEST else [],
        topic_names=list(names) if version < NEWEST else [],
        timeout_ms=timeout_ms,
    )
    return (await stage.ask(message, version, DeleteTopicsResponse)).responses


@administered()
async def test_a_topic_is_gone_when_the_answer_comes(stage: Administered) -> None:
    for version in range(NEWEST + 1):
        name = f"t{version}"
        await stage.create(name, 2)
        (result,) = await delete(stage, name, version=version)
        assert (result.name, result.error_code) == (name, ErrorCode.NONE)
        assert name not in stage.broker.metadata.topics
    children = stage.broker.keeper.children
    # The answer comes when this broker knows the topic no more; its nodes go after that.
    while await children("/brokers/topics") or await children("/config/topics"):
        pass
    assert stage.broker.partitions.get("t0", 0) is None


@administered()
async def test_a_topic_is_named_by_its_id(stage: Administered) -> None:
    await stage.create("t")
    topic_id = stage.broker.metadata.topic_id("t")
    gone, unknown = await delete(stage, ids=(topic_id, UNKNOWN_ID))
    assert (gone.name, gone.topic_id, gone.error_code) == ("t", topic_id, ErrorCode.NONE)
    assert (unknown.name, unknown.topic_id) == (None, UNKNOWN_ID)
    assert unknown.error_code == ErrorCode.UNKNOWN_TOPIC_ID


@administered()
async def test_what_is_not_there_cannot_be_deleted(stage: Administered) -> None:
    await stage.create("t")
    there, other = await delete(stage, "t", "other")
    assert there.error_code == ErrorCode.NONE
    assert other.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@administered()
async def test_a_topic_has_a_name_or_an_id_and_not_both(stage: Administered) -> None:
    await stage.create("t")
    topic_id = stage.broker.metadata.topic_id("t")
    message = DeleteTopicsRequest(
        topics=[DeleteTopicState(name="t", topic_id=topic_id)], topic_names=[], timeout_ms=1000
    )
    response = await stage.ask(message, NEWEST, DeleteTopicsResponse)
    assert response.responses[0].error_code == ErrorCode.INVALID_REQUEST
    assert "t" in stage.broker.metadata.topics
    neither = DeleteTopicsRequest(
        topics=[DeleteTopicState(name=None, topic_id=ZERO_UUID)], topic_names=[], timeout_ms=1000
    )
    response = await stage.ask(neither, NEWEST, DeleteTopicsResponse)
    assert response.responses[0].error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED


@administered()
async def test_who_does_not_wait_is_told_that_time_is_over(stage: Administered) -> None:
    await stage.create("t")
    (result,) = await delete(stage, "t", timeout_ms=0)
    assert result.error_code == ErrorCode.REQUEST_TIMED_OUT
    await stage.until(lambda: "t" not in stage.broker.metadata.topics)


@administered(delete_topic_enable="false")
async def test_nothing_is_deleted_where_that_is_disabled(stage: Administered) -> None:
    await stage.create("t")
    for version in range(NEWEST + 1):
        (result,) = await delete(stage, "t", version=version)
        disabled = ErrorCode.TOPIC_DELETION_DISABLED
        assert result.error_code == (disabled if version > 2 else ErrorCode.INVALID_REQUEST)
    assert "t" in stage.broker.metadata.topics


@administered()
async def test_a_topic_can_be_made_again(stage: Administered) -> None:
    await stage.create("t")
    first = stage.broker.metadata.topic_id("t")
    await delete(stage, "t")
    while await stage.broker.keeper.children("/admin/delete_topics"):
        pass
    await stage.create("t")
    assert stage.broker.metadata.topic_id("t") not in (first, ZERO_UUID)


@administered()
async def test_nothing_is_written_down_of_what_is_deleted(stage: Administered) -> None:
    """A topic of the same name would take over its start, and lose what is before that."""
    await stage.create("t")
    (directory,) = stage.broker.directories.online
    log = directory.logs[TopicPartition("t", 0)]
    put(log, b"a", b"b", b"c")
    log.raise_high_watermark(3)
    log.start_offset = 2
    for name in CHECKPOINTS:
        directory.checkpoint(name).run()

    def written(name: str) -> dict[TopicPartition, int]:
        return read_offsets(directory.files.disk, f"{directory.path}/{name}")

    assert written(START_OFFSETS) == {TopicPartition("t", 0): 2}
    await delete(stage, "t")
    async with asyncio.timeout(20):  # Upkeep would come by a little later.
        await stage.until(lambda: not any(written(name) for name in CHECKPOINTS))
