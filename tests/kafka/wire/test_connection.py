"""A connection without its socket, both ends."""

from __future__ import annotations

from collections.abc import Iterable
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.kafka.wire.codec import Buffer, encode
from odradek.kafka.wire.connection import ClientConnection, Request, ServerConnection
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)
from odradek.kafka.wire.messages.controlled_shutdown import ControlledShutdownRequest
from odradek.kafka.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from odradek.kafka.wire.messages.metadata import MetadataRequest, MetadataResponse
from odradek.kafka.wire.messages.produce import ProduceRequest
from odradek.kafka.wire.schema import Message
from odradek.runtime.errors import ProtocolError
from odradek.runtime.frames import FrameTooLarge
from tests.kafka.wire.golden import golden_files
from tests.kafka.wire.kinds import DATA

REQUESTS = golden_files(DATA / "golden-requests.txt")


def heartbeat(generation_id: int) -> HeartbeatRequest:
    return HeartbeatRequest(group_id="g", generation_id=generation_id, member_id="m")


def wire(parts: Iterable[Buffer]) -> bytes:
    return b"".join(parts)


def framed(payload: bytes) -> bytes:
    return pack(">i", len(payload)) + payload


def sent(client: ClientConnection, message: Message, version: int) -> bytes:
    client.send(message, version)
    return wire(client.take_output())


@pytest.mark.parametrize("name", REQUESTS)
def test_what_an_apache_broker_sends_reads_and_writes_the_same(name: str) -> None:
    payload = REQUESTS[name]
    (request,) = ServerConnection().receive(framed(payload))
    assert request.api.name == name.split()[1]
    assert f"v{request.version}" == name.split()[2]
    client = ClientConnection(request.client_id)
    client._next_correlation_id = request.correlation_id
    assert sent(client, request.message, request.version) == framed(payload)


@given(st.integers(1, 100), st.permutations(range(6)))
def test_answers_leave_in_the_order_of_the_requests(cut: int, order: list[int]) -> None:
    client, server = ClientConnection("me"), ServerConnection()
    for number in range(6):
        assert client.send(heartbeat(number), 4) == number
    stream = wire(client.take_output())
    requests: list[Request] = []
    for start in range(0, len(stream), cut):
        requests += server.receive(stream[start : start + cut])
    assert [request.message for request in requests] == [heartbeat(n) for n in range(6)]
    assert {request.client_id for request in requests} == {"me"}

    answers = b""
    for number in order:
        server.respond(requests[number], HeartbeatResponse(error_code=number))
        answers += wire(server.take_output())
    assert server.unanswered_count == 0
    assert [(r.correlation_id, r.message) for r in client.receive(answers)] == [
        (number, HeartbeatResponse(error_code=number)) for number in range(6)
    ]
    assert client.in_flight_count == 0


def test_an_answer_waits_for_the_one_ahead_of_it() -> None:
    client, server = ClientConnection(None), ServerConnection()
    first, second = server.receive(sent(client, heartbeat(1), 0) + sent(client, heartbeat(2), 0))
    server.respond(second, HeartbeatResponse(error_code=2))
    assert server.take_output() == []
    server.respond(first, HeartbeatResponse(error_code=1))
    codes = [r.message for r in client.receive(wire(server.take_output()))]
    assert codes == [HeartbeatResponse(error_code=1), HeartbeatResponse(error_code=2)]


def test_a_request_without_an_answer_holds_nobody_up() -> None:
    client, server = ClientConnection("me"), ServerConnection()
    client.send(ProduceRequest(acks=0, timeout_ms=1, topic_data=[]), 9, is_answered=False)
    client.send(heartbeat(1), 4)
    silent, answered = server.receive(wire(client.take_output()))
    server.respond(answered, HeartbeatResponse(error_code=0))
    assert server.take_output() == []
    server.respond(silent, None)
    (response,) = client.receive(wire(server.take_output()))
    assert response.correlation_id == 1


def test_bytes_may_come_through_the_connection_s_own_buffer() -> None:
    client, server = ClientConnection("me"), ServerConnection()
    stream = sent(client, heartbeat(1), 4)
    server.get_buffer()[: len(stream)] = stream
    (request,) = server.receive(len(stream))
    assert request.message == heartbeat(1)


def test_a_too_large_frame_is_refused_after_what_came_before_it() -> None:
    server = ServerConnection(frame_bytes_max=100)
    requests = server.receive(sent(ClientConnection("me"), heartbeat(1), 4) + pack(">i", 101))
    assert next(requests).message == heartbeat(1)
    with pytest.raises(FrameTooLarge):
        next(requests)


def test_a_newer_client_s_api_versions_is_answered_in_the_oldest_version() -> None:
    server = ServerConnection()
    newer = pack(">hhih", 18, 9, 5, 2) + b"me" + b"whatever version nine holds"
    assert list(server.receive(framed(newer))) == []
    answer = wire(server.take_output())
    assert answer == framed(bytes.fromhex("00000005 0023 00000001 0012 0000 0004"))


def test_our_client_understands_that_answer_too() -> None:
    client = ClientConnection("me")
    client.send(ApiVersionsRequest(client_software_name="a", client_software_version="1"), 4)
    refusal = bytes.fromhex("00000000 0023 00000001 0012 0000 0003")
    (response,) = client.receive(framed(refusal))
    supported = ApiVersion(api_key=18, min_version=0, max_version=3)
    expected = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[supported])
    assert response.message == expected


@pytest.mark.parametrize(
    "payload",
    [
        pack(">hhih", 999, 0, 1, -1),  # no such api
        pack(">hhih", 71, 0, 1, -1),  # known, but served by KRaft brokers alone
        pack(">hhih", 0, 12, 1, -1),  # no such version
        pack(">hhih", 12, 4, 1, 100),  # a client id beyond the end
        pack(">hhih", 12, 4, 1, -1) + b"\0",  # no body
        pack(">hhi", 12, 4, 1)[:7],
        b"",
    ],
)
def test_a_request_that_cannot_be_read_is_refused(payload: bytes) -> None:
    with pytest.raises(ProtocolError):
        list(ServerConnection().receive(framed(payload)))


def test_controlled_shutdown_zero_has_no_client_id() -> None:
    client = ClientConnection("me")
    data = sent(client, ControlledShutdownRequest(broker_id=3), 0)
    assert data == framed(pack(">hhii", 7, 0, 0, 3))
    (request,) = ServerConnection().receive(data)
    assert request.message == ControlledShutdownRequest(broker_id=3)


def test_a_response_that_nobody_asked_for_is_refused() -> None:
    with pytest.raises(ProtocolError, match="nothing was asked"):
        list(ClientConnection("me").receive(framed(pack(">i", 0))))


def test_a_response_out_of_order_is_refused() -> None:
    client = ClientConnection("me")
    client.send(heartbeat(1), 0)
    with pytest.raises(ProtocolError, match="a response to request 7"):
        list(client.receive(framed(pack(">ih", 7, 0))))


def test_a_message_that_cannot_be_written_leaves_the_client_as_it_was() -> None:
    client = ClientConnection("me")
    with pytest.raises(Exception, match="MetadataRequest version 0"):
        client.send(MetadataRequest(topics=None), 0)
    assert client.take_output() == [] and client.in_flight_count == 0
    assert client.send(heartbeat(1), 0) == 0


def test_the_header_of_a_flexible_answer_has_tags_but_not_of_api_versions() -> None:
    client, server = ClientConnection("me"), ServerConnection()
    stream = sent(client, MetadataRequest(topics=None), 12)
    stream += sent(
        client, ApiVersionsRequest(client_software_name="a", client_software_version="1"), 4
    )
    metadata, versions = server.receive(stream)
    answer = MetadataResponse(brokers=[], topics=[])
    server.respond(metadata, answer)
    assert wire(server.take_output())[8:] == b"\0" + wire(encode(answer, 12))
    listed = ApiVersionsResponse(error_code=0, api_keys=[])
    server.respond(versions, listed)
    assert wire(server.take_output())[8:] == wire(encode(listed, 4))
