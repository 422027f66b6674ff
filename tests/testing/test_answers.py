"""Refusals: every API that has a place for errors, in every version, names what was asked."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.kafka.wire.apis import APIS, Api
from odradek.kafka.wire.codec import encode, read
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.kafka.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from odradek.kafka.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.kafka.wire.messages.find_coordinator import FindCoordinatorRequest
from odradek.kafka.wire.messages.heartbeat import HeartbeatRequest
from odradek.kafka.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from odradek.kafka.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from odradek.kafka.wire.schema import Message, zero_of
from odradek.testing.answers import can_refuse, refusal
from odradek.testing.errors import CannotBeDone
from odradek.testing.rules import CLIENT, Rule, Rules, api_named, error_named

CODE = ErrorCode.NOT_LEADER_OR_FOLLOWER


def refused(request: Message, version: int) -> Any:
    """The refusal as a client would read it."""
    api = APIS[type(request).__wire__.api_key or 0]
    sent = b"".join(encode(refusal(api, request, version, CODE), version))
    return read(api.response, version, sent, 0)[0]


@pytest.mark.parametrize(
    "api", [it for it in APIS.values() if can_refuse(it)], ids=lambda it: it.name
)
def test_any_request_can_be_refused_in_any_version(api: Api) -> None:
    for version in range(api.versions.first, api.versions.last + 1):
        encode(refusal(api, zero_of(api.request), version, CODE), version)


@pytest.mark.parametrize("version", [3, 9, 11])
def test_a_produce_is_refused_for_each_of_its_partitions(version: int) -> None:
    data = [PartitionProduceData(index=number, records=b"") for number in (0, 4)]
    topics = [TopicProduceData(name="t", partition_data=data)]
    answer = refused(ProduceRequest(acks=-1, timeout_ms=1, topic_data=topics), version)
    (topic,) = answer.responses
    assert topic.name == "t"
    assert [(it.index, it.error_code) for it in topic.partition_responses] == [(0, CODE), (4, CODE)]


def test_a_fetch_is_refused_for_its_partitions_and_its_session_is_not() -> None:
    partition = FetchPartition(partition=7, fetch_offset=3, partition_max_bytes=1)
    topics = [FetchTopic(topic="t", topic_id=bytes(16), partitions=[partition])]
    answer = refused(FetchRequest(max_wait_ms=1, min_bytes=1, topics=topics), 12)
    assert answer.error_code == 0
    (it,) = answer.responses[0].partitions
    assert (answer.responses[0].topic, it.partition_index, it.error_code) == ("t", 7, CODE)


def test_a_list_of_bare_names_or_numbers_is_answered_by_items() -> None:
    answer = refused(FindCoordinatorRequest(key_type=0, coordinator_keys=["a", "b"]), 4)
    assert [(it.key, it.error_code) for it in answer.coordinators] == [("a", CODE), ("b", CODE)]
    answer = refused(DeleteTopicsRequest(topic_names=["t"], timeout_ms=1), 5)
    assert [(it.name, it.error_code) for it in answer.responses] == [("t", CODE)]
    group = OffsetFetchRequestGroup(
        group_id="g", topics=[OffsetFetchRequestTopics(name="t", partition_indexes=[2])]
    )
    (answered,) = refused(OffsetFetchRequest(groups=[group]), 8).groups
    assert (answered.group_id, answered.error_code) == ("g", CODE)
    assert answered.topics[0].partitions[0].partition_index == 2


def test_topics_are_refused_by_name() -> None:
    topic = CreatableTopic(
        name="t", num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    assert refused(CreateTopicsRequest(topics=[topic]), 7).topics[0].name == "t"
    state = DeleteTopicState(name="t", topic_id=bytes(16))
    assert refused(DeleteTopicsRequest(topics=[state], timeout_ms=1), 6).responses[0].name == "t"


def test_what_has_one_error_for_all_gets_that() -> None:
    request = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
    assert refused(request, 4).error_code == CODE


def test_a_rule_is_for_clients_and_is_used_up() -> None:
    rule = Rule(api_named("produce"), error=CODE, left=2, broker="broker-1")
    rules = Rules([rule])
    assert rules.match(0, "broker-2", CLIENT) == (0.0, None)
    assert rules.match(0, "broker-1", "broker-2") == (0.0, None)
    assert rules.match(1, "broker-1", CLIENT) == (0.0, None)
    answers = [rules.match(0, "broker-1", CLIENT)[1] for _ in range(3)]
    assert (answers, rule.hits) == ([CODE, CODE, None], 2)


def test_delays_add_up_and_the_newest_error_counts() -> None:
    fetch = api_named("Fetch")
    rules = Rules([Rule(fetch, delay_s=1), Rule(fetch, delay_s=2), Rule(fetch, error=CODE)])
    assert rules.match(1, "broker-1", CLIENT) == (3.0, CODE)


def test_names_that_are_none_get_a_sentence() -> None:
    with pytest.raises(CannotBeDone, match=r"there is no API Prodcue; there are .*Produce"):
        api_named("Prodcue")
    with pytest.raises(CannotBeDone, match="there is no error OOPS"):
        error_named("OOPS")
