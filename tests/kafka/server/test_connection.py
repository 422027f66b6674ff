"""A client's socket: order, patience, and what hostile clients get."""

from __future__ import annotations

import asyncio
from struct import pack

import pytest

from odradek.kafka.server.connection import WAITING_MAX
from odradek.kafka.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from odradek.kafka.wire.messages.fetch import FetchResponse
from odradek.kafka.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from odradek.kafka.wire.messages.produce import ProduceResponse
from tests.kafka.broker.asking import NAMES_VERSION, fetch_of, only, produce_of, told, values_of
from tests.kafka.broker.served import BROKER_ID, Client, Served, with_broker
from tests.kafka.storage.logs import batch_of

VERSIONS = ApiVersionsRequest(client_software_name="test", client_software_version="1")
END = ListOffsetsRequest(
    replica_id=-1,
    topics=[
        ListOffsetsTopic(
            name="t", partitions=[ListOffsetsPartition(partition_index=0, timestamp=-1)]
        )
    ],
)


async def until(condition: object, *, patience: int = 20_000) -> None:
    assert callable(condition)
    for _ in range(patience):
        if condition():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("waited in vain")


async def end_offset(client: Client) -> int:
    answer = await client.ask(END, 9, ListOffsetsResponse)
    return answer.topics[0].partitions[0].offset


@with_broker()
async def test_requests_are_answered_over_a_socket(served: Served) -> None:
    served.lead()
    client = await served.connect()
    assert (await client.ask(VERSIONS, 3, ApiVersionsResponse)).error_code == 0
    produced = await client.ask(produce_of(batch_of([b"a"])), 9, ProduceResponse)
    assert only(produced).base_offset == 0
    (data,) = told(await client.ask(fetch_of(0), NAMES_VERSION, FetchResponse))
    assert values_of(data) == [b"a"]
    await client.close()
    await until(lambda: not served.clients)


@with_broker()
async def test_large_batches_come_and_go_whole(served: Served) -> None:
    served.lead()
    client = await served.connect()
    values = [bytes([number]) * 900_000 for number in range(5)]
    for value in values:
        client.send(produce_of(batch_of([value])), 9)
    for number in range(5):
        answer = await client.receive()
        assert isinstance(answer, ProduceResponse) and only(answer).base_offset == number
    message = fetch_of(0, bytes_max=1 << 25, partition_bytes_max=1 << 25)
    (data,) = told(await client.ask(message, NAMES_VERSION, FetchResponse))
    assert values_of(data) == values
    await client.close()


@with_broker()
async def test_a_thousand_pipelined_requests_are_answered_in_their_order(served: Served) -> None:
    served.lead()
    client = await served.connect()
    for number in range(1000):
        client.send(produce_of(batch_of([b"%d" % number])), 9)
        client.send(END, 9)
    for number in range(1000):
        produced, listed = await client.receive(), await client.receive()
        assert isinstance(produced, ProduceResponse) and only(produced).base_offset == number
        assert isinstance(listed, ListOffsetsResponse)
        assert listed.topics[0].partitions[0].offset == number + 1
    await client.close()


@with_broker()
async def test_a_request_waits_for_the_one_ahead_of_it(served: Served) -> None:
    served.lead()
    client, other = await served.connect(), await served.connect()
    client.send(fetch_of(0, wait_ms=60_000), NAMES_VERSION)
    client.send(produce_of(batch_of([b"mine"])), 9)
    await until(lambda: served.broker.parked.fetches)
    assert await end_offset(other) == 0, "the produce has not begun"
    await other.ask(produce_of(batch_of([b"other"])), 9, ProduceResponse)
    fetched, produced = await client.receive(), await client.receive()
    assert isinstance(fetched, FetchResponse) and isinstance(produced, ProduceResponse)
    assert values_of(told(fetched)[0]) == [b"other"]
    assert only(produced).base_offset == 1
    await client.close()
    await other.close()


@with_broker()
async def test_produces_need_not_wait_for_the_replicas_of_those_ahead(served: Served) -> None:
    partition = served.lead(replicas=(BROKER_ID, 2), isr=(BROKER_ID, 2))
    client = await served.connect()
    for number in range(5):
        acks = 1 if number == 4 else -1
        client.send(produce_of(batch_of([b"x"]), acks=acks, timeout_ms=60_000), 9)
    client.send(END, 9)
    await until(lambda: partition.log.end_offset == 5)
    partition.fetched_by(2, 5, 0, 0)
    for number in range(5):
        answer = await client.receive()
        assert isinstance(answer, ProduceResponse) and only(answer).base_offset == number
    assert isinstance(await client.receive(), ListOffsetsResponse)
    await client.close()


@with_broker()
async def test_so_many_produces_may_wait_and_no_more(served: Served) -> None:
    partition = served.lead(replicas=(BROKER_ID, 2), isr=(BROKER_ID, 2))
    client = await served.connect()
    for _ in range(3 * WAITING_MAX):
        client.send(produce_of(batch_of([b"x"]), timeout_ms=60_000), 9)
    await until(lambda: partition.log.end_offset == WAITING_MAX)
    (connection,) = served.clients.connections
    assert connection.is_busy
    for _ in range(20):
        await asyncio.sleep(0)
    assert partition.log.end_offset == WAITING_MAX
    received = 0
    while received < 3 * WAITING_MAX:
        partition.fetched_by(2, partition.log.end_offset, 0, 0)
        assert isinstance(await client.receive(), ProduceResponse)
        received += 1
    await client.close()


@with_broker()
async def test_who_wants_no_answer_is_ended_by_an_error(served: Served) -> None:
    served.lead()
    client = await served.connect()
    client.send(produce_of(batch_of([b"x"]), acks=0), 9, is_answered=False)
    assert await end_offset(client) == 1
    client.send(produce_of(b"junk", acks=0), 9, is_answered=False)
    assert await client.is_ended()


@with_broker()
async def test_who_has_said_all_still_gets_the_answers(served: Served) -> None:
    served.lead()
    client, other = await served.connect(), await served.connect()
    client.send(VERSIONS, 3)
    client.send(fetch_of(0, wait_ms=60_000), NAMES_VERSION)
    client.send(END, 9)
    client.writer.write_eof()
    await until(lambda: served.broker.parked.fetches)
    await other.ask(produce_of(batch_of([b"x"])), 9, ProduceResponse)
    assert isinstance(await client.receive(), ApiVersionsResponse)
    assert isinstance(await client.receive(), FetchResponse)
    assert isinstance(await client.receive(), ListOffsetsResponse)
    assert await client.is_ended()
    await until(lambda: len(served.clients) == 1)


@with_broker()
async def test_who_has_said_all_and_reads_slowly_gets_all_of_it(served: Served) -> None:
    partition = served.lead()
    partition.append(batch_of([bytes(900_000)]), 0)
    client = await served.connect()
    for _ in range(30):
        client.send(fetch_of(0), NAMES_VERSION)
    client.writer.write_eof()
    for _ in range(30):
        answer = await client.receive()
        assert isinstance(answer, FetchResponse) and told(answer)[0].error_code == 0
    assert await client.is_ended()


# Hostile clients


@pytest.mark.parametrize(
    "bytes_sent",
    [
        pack(">i", -1),
        pack(">i", 2**31 - 1),
        pack(">i", 104_857_601),
        pack(">i", 3) + b"abc",
        pack(">ihhih", 10, 999, 0, 1, -1),
        pack(">ihhih", 10, 0, 99, 1, -1),
        pack(">ihhih", 10, 12, 0, 1, -1),  # Heartbeat: there are no groups.
        pack(">ihhih", 10, 0, 9, 1, -1),
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        pack(">ihhihi", 14, 3, 0, 1, -1, 2**31 - 1),
    ],
)
def test_nonsense_ends_the_connection_and_harms_nobody(
    bytes_sent: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    @with_broker()
    async def story(served: Served) -> None:
        served.lead()
        good, bad = await served.connect(), await served.connect()
        await good.ask(VERSIONS, 3, ApiVersionsResponse)
        bad.writer.write(bytes_sent)
        assert await bad.is_ended()
        answer = await good.ask(produce_of(batch_of([b"x"])), 9, ProduceResponse)
        assert only(answer).error_code == 0
        assert served.broker.meters.connections_dropped == 1
        await good.close()
        await bad.close()

    story(tmp_path_factory.mktemp("broker"))


@with_broker()
async def test_what_came_before_nonsense_is_answered(served: Served) -> None:
    client = await served.connect()
    client.send(VERSIONS, 3)
    client.writer.write(pack(">i", -1))
    assert isinstance(await client.receive(), ApiVersionsResponse)
    assert await client.is_ended()


@with_broker()
async def test_a_newer_client_is_told_which_versions_there_are(served: Served) -> None:
    client = await served.connect()
    client.writer.write(pack(">ihhih", 10, 18, 77, 5, -1))
    answer = await client.reader.readexactly(4 + 16)
    assert answer[4:] == bytes.fromhex("00000005 0023 00000001 0012 0000 0004")
    await client.close()


@with_broker(**{"socket.request.max.bytes": 1000})
async def test_the_largest_request_is_set_by_the_operator(served: Served) -> None:
    served.lead()
    client = await served.connect()
    answer = await client.ask(produce_of(batch_of([bytes(500)])), 9, ProduceResponse)
    assert only(answer).error_code == 0
    client.send(produce_of(batch_of([bytes(1000)])), 9)
    assert await client.is_ended()


@with_broker()
async def test_a_client_that_does_not_read_is_not_read_from(served: Served) -> None:
    """A hundred fetches of a mebibyte are asked for: a few are held, the rest stays outside."""
    partition = served.lead()
    for _ in range(2):
        partition.append(batch_of([bytes(600_000)]), 0)
    slow, quick = await served.connect(), await served.connect()
    slow.writer.transport.pause_reading()  # type: ignore[attr-defined]
    count = 100
    for _ in range(count):
        slow.send(fetch_of(0, partition_bytes_max=1 << 21, bytes_max=1 << 21), NAMES_VERSION)
    await until(lambda: partition.meter.fetch_requests >= 2)
    for _ in range(50):
        assert await end_offset(quick) == 2
    assert partition.meter.fetch_requests < count / 4
    slow.writer.transport.resume_reading()  # type: ignore[attr-defined]
    for _ in range(count):
        answer = await slow.receive()
        assert isinstance(answer, FetchResponse) and told(answer)[0].error_code == 0
    await slow.close()
    await quick.close()


@with_broker()
async def test_ten_thousand_pipelined_requests_are_held_as_bytes_not_as_answers(
    served: Served,
) -> None:
    partition = served.lead()
    partition.append(batch_of([bytes(2000)]), 0)
    client, quick = await served.connect(), await served.connect()
    client.writer.transport.pause_reading()  # type: ignore[attr-defined]
    for _ in range(10_000):
        client.send(fetch_of(0), NAMES_VERSION)
    for _ in range(50):
        assert await end_offset(quick) == 1
    assert 0 < partition.meter.fetch_requests < 9_000
    client.writer.transport.resume_reading()  # type: ignore[attr-defined]
    for _ in range(10_000):
        assert isinstance(await client.receive(), FetchResponse)
    await client.close()
    await quick.close()


@with_broker()
async def test_bytes_that_trickle_in_make_a_request(served: Served) -> None:
    client = await served.connect()
    client.wire.send(VERSIONS, 3)
    for byte in b"".join(client.wire.take_output()):
        client.writer.write(bytes([byte]))
        await asyncio.sleep(0)
    assert isinstance(await client.receive(), ApiVersionsResponse)
    await client.close()


@with_broker()
async def test_an_error_inside_a_handler_stops_the_node_and_says_why(served: Served) -> None:
    served.lead()
    served.broker.partitions.leader = None  # type: ignore[assignment, method-assign]
    client = await served.connect()
    client.send(END, 9)
    assert await client.is_ended()
    failure = served.broker.tasks.failure
    assert failure is not None and failure.name.startswith("ListOffsets")
    served.broker.tasks.failure = None
