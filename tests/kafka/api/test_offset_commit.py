"""OffsetCommit, OffsetFetch, OffsetDelete and DeleteGroups: where groups stand."""

from __future__ import annotations

from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from odradek.kafka.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from odradek.kafka.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from odradek.kafka.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from odradek.kafka.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from tests.kafka.api.administered import Administered
from tests.kafka.api.grouped import coordinating

UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
Found = dict[int, tuple[int, str | None, int]]


async def commit(
    broker: Administered, version: int, *partitions: int, topic: str = "t", metadata: str = "m"
) -> dict[tuple[str, int], int]:
    message = OffsetCommitRequest(
        group_id="g",
        topics=[
            OffsetCommitRequestTopic(
                name=topic,
                partitions=[
                    OffsetCommitRequestPartition(
                        partition_index=index,
                        committed_offset=100 + version,
                        committed_metadata=metadata,
                    )
                    for index in partitions
                ],
            )
        ],
    )
    response = await broker.ask(message, version, OffsetCommitResponse)
    return {
        (it.name, each.partition_index): each.error_code
        for it in response.topics
        for each in it.partitions
    }


async def fetch(broker: Administered, version: int, *partitions: int) -> Found:
    """Offset, metadata and code of each partition; of all, if none is named and may be."""
    indexes = list(partitions)
    if version < 8:
        asked = [OffsetFetchRequestTopic(name="t", partition_indexes=indexes)]
        message = OffsetFetchRequest(group_id="g", topics=asked if indexes else None)
        response = await broker.ask(message, version, OffsetFetchResponse)
        return {
            it.partition_index: (it.committed_offset, it.metadata, it.error_code)
            for topic in response.topics
            for it in topic.partitions
        }
    wanted = [OffsetFetchRequestTopics(name="t", partition_indexes=indexes)]
    group = OffsetFetchRequestGroup(group_id="g", topics=wanted if indexes else None)
    message = OffsetFetchRequest(groups=[group])
    response = await broker.ask(message, version, OffsetFetchResponse)
    return {
        each.partition_index: (each.committed_offset, each.metadata, each.error_code)
        for topic in response.groups[0].topics
        for each in topic.partitions
    }


@coordinating()
async def test_offsets_and_metadata_come_back_in_every_version(broker: Administered) -> None:
    for version in range(1, 10):
        assert await commit(broker, version, 1) == {("t", 1): 0}
        assert await fetch(broker, version, 0, 1) == {0: (-1, "", 0), 1: (100 + version, "m", 0)}
        if version >= 2:
            assert await fetch(broker, version) == {1: (100 + version, "m", 0)}


@coordinating()
async def test_version_0_keeps_its_offsets_in_zookeeper(broker: Administered) -> None:
    assert await commit(broker, 0, 1, 7) == {("t", 1): 0, ("t", 7): UNKNOWN}
    found = await broker.broker.keeper.read("/consumers/g/offsets/t/1")
    assert found is not None and found[0] == b"100"
    assert await fetch(broker, 0, 0, 1, 7) == {
        0: (-1, "", UNKNOWN),
        1: (100, "", 0),
        7: (-1, "", UNKNOWN),
    }
    assert await fetch(broker, 1, 1) == {1: (-1, "", 0)}
    too_long = await commit(broker, 0, 0, metadata="x" * 5000)
    assert too_long == {("t", 0): ErrorCode.OFFSET_METADATA_TOO_LARGE}


@coordinating()
async def test_what_does_not_exist_is_refused_and_the_rest_is_not(broker: Administered) -> None:
    assert await commit(broker, 5, 0, 9) == {("t", 9): UNKNOWN, ("t", 0): 0}
    assert await commit(broker, 5, 0, topic="missing") == {("missing", 0): UNKNOWN}
    assert await fetch(broker, 5) == {0: (105, "m", 0)}


@coordinating()
async def test_offsets_are_deleted_one_by_one(broker: Administered) -> None:
    await commit(broker, 5, 0, 1)
    partitions = [OffsetDeleteRequestPartition(partition_index=index) for index in (0, 9)]
    topics = [OffsetDeleteRequestTopic(name="t", partitions=partitions)]
    message = OffsetDeleteRequest(group_id="g", topics=topics)
    response = await broker.ask(message, 0, OffsetDeleteResponse)
    codes = {each.partition_index: each.error_code for each in response.topics[0].partitions}
    assert (response.error_code, codes) == (0, {0: 0, 9: UNKNOWN})
    assert await fetch(broker, 5) == {1: (105, "m", 0)}
    missing = OffsetDeleteRequest(group_id="unknown", topics=topics)
    refused = await broker.ask(missing, 0, OffsetDeleteResponse)
    assert (refused.error_code, refused.topics) == (ErrorCode.GROUP_ID_NOT_FOUND, [])


@coordinating()
async def test_groups_are_deleted_with_their_offsets(broker: Administered) -> None:
    for version in range(3):
        await commit(broker, 5, 0)
        message = DeleteGroupsRequest(groups_names=["g", "unknown", "g"])
        response = await broker.ask(message, version, DeleteGroupsResponse)
        codes = {each.group_id: each.error_code for each in response.results}
        assert codes == {"g": 0, "unknown": ErrorCode.GROUP_ID_NOT_FOUND}
        assert await fetch(broker, 5) == {}


@coordinating()
async def test_a_deleted_topic_takes_its_offsets_along(broker: Administered) -> None:
    await commit(broker, 5, 0, 1)
    message = DeleteTopicsRequest(topics=[], topic_names=["t"], timeout_ms=20_000)
    response = await broker.ask(message, 5, DeleteTopicsResponse)
    assert response.responses[0].error_code == 0
    await broker.until(lambda: "t" not in broker.broker.metadata.topics)
    assert await fetch(broker, 5) == {}
