"""Clients over their quotas: what they are told, and how long they are not heard."""

from __future__ import annotations

import asyncio

import pytest

from odradek.kafka.broker.throttling import told_to_wait
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from odradek.kafka.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from odradek.kafka.wire.messages.create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from odradek.kafka.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from odradek.kafka.wire.messages.fetch import FetchResponse
from odradek.kafka.wire.messages.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from odradek.kafka.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from odradek.kafka.wire.messages.produce import ProduceResponse
from tests.kafka.api.administered import Administered, administered
from tests.kafka.broker.asking import (
    FETCH_VERSION,
    PRODUCE_VERSION,
    fetch_of,
    produce_of,
    told,
    values_of,
)
from tests.kafka.broker.served import Served, with_broker
from tests.kafka.storage.logs import batch_of

WHOLE = ApiVersionsRequest(client_software_name="test", client_software_version="1")
EXCEEDED = ErrorCode.THROTTLING_QUOTA_EXCEEDED


def limit(served: Served | Administered, **quotas: float) -> None:
    """Say what the client `test` may do."""
    texts = {key: str(value) for key, value in quotas.items()}
    served.broker.throttling.take("clients/test", texts)


def batch(size: int) -> bytes:
    return batch_of([bytes(size)])


@with_broker()
async def test_nothing_is_counted_where_there_is_no_quota(served: Served) -> None:
    assert not served.broker.throttling.is_on
    limit(served, producer_byte_rate=1)
    assert served.broker.throttling.is_on
    limit(served)
    assert not served.broker.throttling.is_on
    served.broker.throttling.take("ips/<default>", {"connection_creation_rate": "1"})
    assert not served.broker.throttling.is_on  # That is asked of connections alone.


@with_broker()
async def test_a_producer_is_answered_and_then_not_heard_for_a_while(served: Served) -> None:
    served.lead()
    limit(served, producer_byte_rate=1000)
    client = await served.connect()
    clock_s = asyncio.get_running_loop().time
    message = produce_of(batch(10_200))
    first = await client.ask(message, PRODUCE_VERSION, ProduceResponse)
    answered_s = clock_s()
    assert 100 <= first.throttle_time_ms <= 500
    await client.ask(WHOLE, 3, ApiVersionsResponse)
    assert clock_s() - answered_s >= first.throttle_time_ms / 1000 - 0.02
    other = await served.connect("other")
    unlimited = await other.ask(message, PRODUCE_VERSION, ProduceResponse)
    assert unlimited.throttle_time_ms == 0


@with_broker()
async def test_who_wants_no_answer_is_held_back_all_the_same(served: Served) -> None:
    served.lead()
    limit(served, producer_byte_rate=1000)
    client = await served.connect()
    begun_s = asyncio.get_running_loop().time()
    client.send(produce_of(batch(10_200), acks=0), PRODUCE_VERSION, is_answered=False)
    await client.ask(WHOLE, 3, ApiVersionsResponse)
    assert asyncio.get_running_loop().time() - begun_s >= 0.15


@with_broker()
async def test_a_consumer_over_its_quota_gets_nothing_but_the_time_to_wait(
    served: Served,
) -> None:
    partition = served.lead()
    for _ in range(3):
        partition.append(batch(4000), 0)
    limit(served, consumer_byte_rate=500)
    ask = fetch_of(0, bytes_max=4000)
    whole = await served.ask(ask, FETCH_VERSION, FetchResponse)
    assert [len(it.records or b"") > 4000 for it in told(whole)] == [True]
    empty = await served.ask(ask, FETCH_VERSION, FetchResponse)
    assert (told(empty), empty.error_code) == ([], 0)
    assert empty.throttle_time_ms > 1000
    again = await served.ask(ask, FETCH_VERSION, FetchResponse)
    # What was not sent was not counted.
    assert again.throttle_time_ms <= empty.throttle_time_ms


@with_broker()
async def test_an_answer_is_no_larger_than_the_quota_can_ever_allow(served: Served) -> None:
    partition = served.lead()
    for _ in range(10):
        partition.append(batch(1000), 0)
    limit(served, consumer_byte_rate=300)
    answer = await served.ask(fetch_of(0), FETCH_VERSION, FetchResponse)
    (data,) = told(answer)
    assert len(values_of(data)) == 2  # 3000 bytes in ten seconds.


@with_broker()
async def test_a_session_goes_on_after_an_empty_answer(served: Served) -> None:
    partition = served.lead()
    partition.append(batch(4000), 0)
    opened = await served.ask(fetch_of(0, session=(0, 0)), FETCH_VERSION, FetchResponse)
    limit(served, consumer_byte_rate=100)
    partition.append(batch(4000), 0)
    session = opened.session_id
    empty = await served.ask(fetch_of(session=(session, 1)), FETCH_VERSION, FetchResponse)
    assert (empty.session_id, told(empty)) == (session, [])
    assert empty.throttle_time_ms > 0
    limit(served)
    whole = await served.ask(fetch_of(session=(session, 2)), FETCH_VERSION, FetchResponse)
    assert [len(values_of(it)) for it in told(whole)] == [2]


@with_broker()
async def test_a_session_does_not_begin_with_an_empty_answer(served: Served) -> None:
    served.lead().append(batch(4000), 0)
    limit(served, consumer_byte_rate=100)
    empty = await served.ask(fetch_of(0, session=(0, 0)), FETCH_VERSION, FetchResponse)
    assert (empty.session_id, told(empty)) == (0, [])
    assert empty.throttle_time_ms > 0
    assert len(served.broker.fetch_sessions) == 0


@with_broker()
async def test_a_follower_is_never_held_back(served: Served) -> None:
    partition = served.lead(replicas=(1, 2), isr=(1,))
    partition.append(batch(4000), 0)
    limit(served, consumer_byte_rate=1, request_percentage=0.000001)
    client = await served.connect()
    message = fetch_of(0, replica_id=2)
    answer = await client.ask(message, 14, FetchResponse)
    assert answer.throttle_time_ms == 0 and told(answer)[0].records


@with_broker()
async def test_time_on_the_loop_counts_for_every_request(served: Served) -> None:
    served.lead()
    limit(served, request_percentage=1e-9)
    client = await served.connect()
    asked = ListOffsetsRequest(replica_id=-1, topics=[])
    answer = await client.ask(asked, 7, ListOffsetsResponse)
    # As long as a window, however little of a share there is.
    assert answer.throttle_time_ms == 1000
    assert served.broker.throttling.pauses == {"ListOffsets": 1}


@with_broker()
async def test_connections_that_come_too_quickly_are_not_heard(served: Served) -> None:
    served.broker.throttling.take("ips/127.0.0.1", {"connection_creation_rate": "1"})
    clients = [await served.connect() for _ in range(12)]
    for client in clients[:10]:
        await client.ask(WHOLE, 3, ApiVersionsResponse)
    for client in clients[10:]:
        client.send(WHOLE, 3)
        with pytest.raises(ConnectionError):
            await client.receive()
    assert served.broker.meters.connections_refused == 2


def test_an_answer_of_a_version_without_the_field_stays_as_it_is() -> None:
    response = ProduceResponse(responses=[])
    assert told_to_wait(response, 0, 10) is response
    assert told_to_wait(response, 1, 10).throttle_time_ms == 10
    assert response.throttle_time_ms == 0


@administered(controller_quota_window_num=2)
async def test_too_many_changes_of_the_cluster_are_refused(stage: Administered) -> None:
    await stage.create("a", 3)
    limit(stage, controller_mutation_rate=1)  # Two at once.

    def topics(*names: str) -> CreateTopicsRequest:
        new = [
            CreatableTopic(
                name=it, num_partitions=3, replication_factor=1, assignments=[], configs=[]
            )
            for it in names
        ]
        return CreateTopicsRequest(topics=new, timeout_ms=20_000, validate_only=False)

    made = await stage.ask(topics("b", "c"), 6, CreateTopicsResponse)
    assert [it.error_code for it in made.topics] == [0, EXCEEDED]
    assert 0 < made.throttle_time_ms <= 1000
    grown = await stage.ask(
        CreatePartitionsRequest(
            topics=[CreatePartitionsTopic(name="a", count=4, assignments=None)],
            timeout_ms=20_000,
            validate_only=False,
        ),
        3,
        CreatePartitionsResponse,
    )
    assert [it.error_code for it in grown.results] == [EXCEEDED] and grown.throttle_time_ms > 0
    doomed = DeleteTopicsRequest(topic_names=["a"], timeout_ms=20_000)
    kept = await stage.ask(doomed, 5, DeleteTopicsResponse)
    assert [it.error_code for it in kept.responses] == [EXCEEDED] and kept.throttle_time_ms > 0
    # Who knows no such error is served, and held back for longer.
    gone = await stage.ask(doomed, 4, DeleteTopicsResponse)
    assert [it.error_code for it in gone.responses] == [0]
    assert gone.throttle_time_ms > kept.throttle_time_ms


@administered(controller_quota_window_num=2, num_partitions=3)
async def test_topics_that_come_by_themselves_are_charged_but_never_refused(
    stage: Administered,
) -> None:
    limit(stage, controller_mutation_rate=1)  # Two at once.
    for name in ("a", "b"):
        asked = MetadataRequest(
            topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=True
        )
        answer = await stage.ask(asked, 12, MetadataResponse)
        assert answer.topics[0].error_code == ErrorCode.LEADER_NOT_AVAILABLE
        assert answer.throttle_time_ms == 0
    new = CreatableTopic(
        name="c", num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    request = CreateTopicsRequest(topics=[new], timeout_ms=20_000, validate_only=False)
    refused = await stage.ask(request, 6, CreateTopicsResponse)
    assert [it.error_code for it in refused.topics] == [EXCEEDED]
    assert refused.throttle_time_ms > 2000
