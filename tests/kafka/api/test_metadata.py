"""Clients learn who leads what, each as its version and its listener have it."""

from __future__ import annotations

import pytest

from odradek.kafka.admin.operations import ALL_OF_A_CLUSTER, ALL_OF_A_TOPIC, NOT_ASKED
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from tests.kafka.api.administered import CLIENTS, OTHERS, Administered, administered

NEWEST = 12
VERSIONS = range(NEWEST + 1)


def asking(*names: str | None, creates: bool = False, **fields: bool) -> MetadataRequest:
    topics = [MetadataRequestTopic(name=name) for name in names]
    return MetadataRequest(topics=topics, allow_auto_topic_creation=creates, **fields)


async def topics(
    stage: Administered, message: MetadataRequest, version: int = NEWEST
) -> list[MetadataResponseTopic]:
    return (await stage.ask(message, version, MetadataResponse)).topics


@administered()
async def test_every_version_is_told_of_a_topic(stage: Administered) -> None:
    await stage.create("t", 2)
    for version in VERSIONS:
        message = asking("t", creates=version < 4)
        response = await stage.ask(message, version, MetadataResponse)
        (broker,) = response.brokers
        assert (broker.node_id, broker.host) == (1, "127.0.0.1")
        assert broker.port == stage.port(CLIENTS)
        (topic,) = response.topics
        assert (topic.error_code, topic.name) == (ErrorCode.NONE, "t")
        assert sorted(it.partition_index for it in topic.partitions) == [0, 1]
        assert all((it.error_code, it.leader_id) == (0, 1) for it in topic.partitions)
        assert all(it.replica_nodes == it.isr_nodes == [1] for it in topic.partitions)
        if version >= 1:
            assert response.controller_id == 1
        if version >= 2:
            assert response.cluster_id == stage.broker.cluster_id
        if version >= 10:
            assert topic.topic_id == stage.broker.metadata.topic_id("t") != bytes(16)


@administered()
async def test_all_topics_are_asked_for_by_nothing_or_by_null(stage: Administered) -> None:
    await stage.create("a")
    await stage.create("b")
    for version in VERSIONS:
        everything = MetadataRequest(topics=[] if version == 0 else None)
        assert sorted(str(it.name) for it in await topics(stage, everything, version)) == ["a", "b"]
        if version > 0:
            assert await topics(stage, MetadataRequest(topics=[]), version) == []


@administered()
async def test_a_topic_is_made_when_it_is_first_asked_for(stage: Administered) -> None:
    (topic,) = await topics(stage, asking("new", creates=True))
    assert (topic.error_code, topic.partitions) == (ErrorCode.LEADER_NOT_AVAILABLE, [])
    await stage.until(lambda: stage.broker.metadata.partition("new", 0))
    (topic,) = await topics(stage, asking("new", creates=True))
    assert (topic.error_code, topic.partitions[0].leader_id) == (ErrorCode.NONE, 1)


@administered(num_partitions=3)
async def test_a_topic_made_by_itself_has_the_default_number_of_partitions(
    stage: Administered,
) -> None:
    await topics(stage, asking("new", creates=True), 3)  # Which cannot say that it does not want.
    await stage.until(lambda: stage.broker.metadata.topics.get("new"))
    assert len(stage.broker.metadata.topics["new"]) == 3


@administered()
async def test_no_topic_is_made_for_a_client_that_does_not_want_it(stage: Administered) -> None:
    (topic,) = await topics(stage, asking("new"))
    assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert await stage.broker.keeper.children("/brokers/topics") == []


@administered(auto_create_topics_enable="false")
async def test_no_topic_is_made_where_the_broker_does_not_want_it(stage: Administered) -> None:
    (topic,) = await topics(stage, asking("new", creates=True))
    assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert await stage.broker.keeper.children("/brokers/topics") == []


@pytest.mark.parametrize("creates", [True, False])
def test_a_name_that_cannot_be_is_refused(creates: bool, tmp_path: object) -> None:
    async def story(stage: Administered) -> None:
        (topic,) = await topics(stage, asking("a b", creates=creates))
        assert topic.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION

    administered()(story)(tmp_path)  # type: ignore[arg-type]


@administered(default_replication_factor=2)
async def test_a_topic_that_cannot_be_made_says_why(stage: Administered) -> None:
    (topic,) = await topics(stage, asking("new", creates=True))
    assert topic.error_code == ErrorCode.INVALID_REPLICATION_FACTOR


@administered()
async def test_a_name_asked_for_twice_is_answered_once(stage: Administered) -> None:
    assert len(await topics(stage, asking("x", "x"))) == 1


@administered()
async def test_topics_are_known_by_their_ids(stage: Administered) -> None:
    await stage.create("t")
    known, unknown = stage.broker.metadata.topic_id("t"), bytes(15) + b"\7"
    message = MetadataRequest(
        topics=[
            MetadataRequestTopic(topic_id=known, name=None),
            MetadataRequestTopic(topic_id=unknown, name=None),
        ]
    )
    missing, found = await topics(stage, message)
    assert (missing.error_code, missing.name) == (ErrorCode.UNKNOWN_TOPIC_ID, None)
    assert missing.topic_id == unknown
    assert (found.error_code, found.name, found.topic_id) == (ErrorCode.NONE, "t", known)


@administered()
async def test_ids_were_in_the_schema_before_they_could_be_asked_for(stage: Administered) -> None:
    for version in (10, 11):
        (topic,) = await topics(stage, asking(None), version)
        assert (topic.error_code, topic.name) == (ErrorCode.INVALID_REQUEST, "")
        by_id = MetadataRequest(topics=[MetadataRequestTopic(topic_id=b"x" * 16, name="t")])
        (topic,) = await topics(stage, by_id, version)
        assert topic.error_code == ErrorCode.INVALID_REQUEST


@administered()
async def test_each_listener_is_told_its_own_addresses(stage: Administered) -> None:
    await stage.create("t")
    response = await stage.ask(asking("t"), NEWEST, MetadataResponse, OTHERS)
    assert [it.port for it in response.brokers] == [stage.port(OTHERS)]
    response = await stage.ask(asking("t"), NEWEST, MetadataResponse, "NOBODY'S")
    assert response.brokers == []
    assert response.topics[0].partitions[0].error_code == ErrorCode.LISTENER_NOT_FOUND
    response = await stage.ask(asking("t", creates=True), 3, MetadataResponse, "NOBODY'S")
    assert response.topics[0].partitions[0].error_code == ErrorCode.LEADER_NOT_AVAILABLE


@administered()
async def test_operations_are_told_when_asked_for(stage: Administered) -> None:
    await stage.create("t")
    for _ in range(2):  # What is kept for one must not be told to the other.
        plain = await stage.ask(asking("t"), 8, MetadataResponse)
        assert plain.topics[0].topic_authorized_operations == NOT_ASKED
        assert plain.cluster_authorized_operations == NOT_ASKED
        full = asking(
            "t",
            include_topic_authorized_operations=True,
            include_cluster_authorized_operations=True,
        )
        told = await stage.ask(full, 8, MetadataResponse)
        assert told.topics[0].topic_authorized_operations == ALL_OF_A_TOPIC
        assert told.cluster_authorized_operations == ALL_OF_A_CLUSTER


@administered()
async def test_what_was_answered_is_not_answered_again_once_the_cluster_has_changed(
    stage: Administered,
) -> None:
    await stage.create("a")
    everything = MetadataRequest(topics=None)
    assert [it.name for it in await topics(stage, everything)] == ["a"]
    await stage.create("b")
    assert sorted(str(it.name) for it in await topics(stage, everything)) == ["a", "b"]


@administered(offsets_topic_num_partitions=2, offsets_topic_replication_factor=1)
async def test_kafkas_own_topics_are_made_and_marked(stage: Administered) -> None:
    (topic,) = await topics(stage, asking("__consumer_offsets", creates=True))
    assert topic.is_internal
    await stage.until(lambda: stage.broker.metadata.topics.get("__consumer_offsets"))
    texts = await stage.broker.configs.fetch("topics/__consumer_offsets")
    assert texts is not None and texts["cleanup.policy"] == "compact"
