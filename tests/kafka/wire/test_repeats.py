"""What repeats itself is known: as the ordinary way would read it and answer it, or not at all."""

from __future__ import annotations

from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.kafka.wire.connection import ClientConnection, ServerConnection, answer
from odradek.kafka.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from odradek.kafka.wire.repeats import FIRST_WITH_START_OFFSET, Repeat
from tests.kafka.broker.asking import produce_of

LAST = 11
VERSIONS = range(FIRST_WITH_START_OFFSET, LAST + 1)
CLIENTS = (None, "", "a client")
INT64 = st.integers(-(2**63), 2**63 - 1)


class Told:
    """One client's connection, and what its broker makes of it."""

    def __init__(self, client_id: str | None = "a client") -> None:
        self.client = ClientConnection(client_id)
        self.server = ServerConnection()

    def frame(self, message: ProduceRequest, version: int) -> bytes:
        self.client.send(message, version)
        return b"".join(self.client.take_output())

    def read(self, frame: bytes) -> None:
        """It comes, and is read and answered as ever."""
        for request in self.server.receive(frame):
            self.server.respond(request, None)

    def find(self, frame: bytes) -> Repeat | None:
        self.server.get_buffer()[: len(frame)] = frame
        return self.server.repeat(len(frame))

    def learn(self, message: ProduceRequest, version: int) -> None:
        for _ in range(2):
            self.read(self.frame(message, version))


@pytest.mark.parametrize("client_id", CLIENTS)
@pytest.mark.parametrize("version", VERSIONS)
def test_the_third_is_known_by_the_two_before_it(version: int, client_id: str | None) -> None:
    told = Told(client_id)
    for number in range(2):
        frame = told.frame(produce_of(b"%d" % number * 100, acks=1), version)
        assert told.find(frame) is None
        told.read(frame)
    for size in (61, 124, 125, 126, 127, 128, 129, 1000, 15_000):
        records = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
        frame = told.frame(produce_of(records, acks=1), version)
        repeat = told.find(frame)
        assert repeat is not None and repeat.records == records
        assert (repeat.usual.topic, repeat.usual.index) == ("t", 0)
        assert not repeat.usual.is_for_all
        assert repeat.size == len(frame) - 4
        assert repeat.correlation_id == int.from_bytes(frame[8:12], "big")


@pytest.mark.parametrize("version", VERSIONS)
@given(correlation_id=st.integers(0, 2**31 - 1), numbers=st.tuples(INT64, INT64, INT64))
def test_its_answer_is_the_one_that_would_be_written(
    version: int, correlation_id: int, numbers: tuple[int, int, int]
) -> None:
    told = Told()
    told.learn(produce_of(b"records"), version)
    assert told.server.repeats.usual is not None
    ours = told.server.repeats.usual.answer(correlation_id, *numbers)
    part = PartitionProduceResponse(
        index=0,
        error_code=0,
        base_offset=numbers[0],
        log_append_time_ms=numbers[1],
        log_start_offset=numbers[2],
    )
    response = ProduceResponse(
        responses=[TopicProduceResponse(name="t", partition_responses=[part])]
    )
    (request,) = told.server.receive(told.frame(produce_of(b"records"), version))
    request.correlation_id = correlation_id
    assert ours == b"".join(answer(request, response)[0])


@pytest.mark.parametrize(
    "message",
    [
        produce_of(b"records", acks=1),
        produce_of(b"records", timeout_ms=5001),
        produce_of(b"records", topic="u"),
        produce_of(b"records", topic="tt"),
        produce_of(None, b"records"),
        produce_of(b"records", b"records"),
        produce_of(b"records", transactional_id="x"),
        produce_of(None),
        produce_of(b""),
    ],
)
@pytest.mark.parametrize("version", VERSIONS)
def test_what_differs_in_anything_is_not_known(version: int, message: ProduceRequest) -> None:
    told = Told()
    told.learn(produce_of(b"records"), version)
    assert told.find(told.frame(produce_of(b"records"), version)) is not None
    found = told.find(told.frame(message, version))
    assert found is None or not found.records


def test_another_version_is_not_known() -> None:
    told = Told()
    told.learn(produce_of(b"records"), 9)
    assert told.find(told.frame(produce_of(b"records"), 10)) is None


@pytest.mark.parametrize(
    "message",
    [
        produce_of(b"records", acks=0),
        produce_of(b"records", transactional_id="x"),
        produce_of(b"records", b"records"),
        produce_of(None),
        produce_of(b"x" * 20_000),
        ProduceRequest(acks=1, timeout_ms=1, topic_data=[]),
    ],
)
def test_what_cannot_be_answered_so_is_never_usual(message: ProduceRequest) -> None:
    told = Told()
    told.learn(message, LAST)
    assert told.server.repeats.usual is None


def test_old_versions_are_never_usual() -> None:
    told = Told()
    told.learn(produce_of(b"records"), FIRST_WITH_START_OFFSET - 1)
    assert told.server.repeats.usual is None


def test_who_takes_turns_is_read_as_ever() -> None:
    told = Told()
    for _ in range(3):
        for topic in ("a", "b"):
            told.read(told.frame(produce_of(b"records", topic=topic), LAST))
    assert told.server.repeats.usual is None


def test_the_usual_changes_with_the_client() -> None:
    told = Told()
    for topic in ("a", "b", "a"):
        told.learn(produce_of(b"records", topic=topic), LAST)
        repeat = told.find(told.frame(produce_of(b"other", topic=topic), LAST))
        assert repeat is not None and repeat.usual.topic == topic


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_in_pieces_or_more_than_one_is_not_known(version: int) -> None:
    told = Told()
    told.learn(produce_of(b"records"), version)
    frame = told.frame(produce_of(b"records"), version)
    for end in range(len(frame)):
        assert told.find(frame[:end]) is None
    assert told.find(frame + frame) is None
    assert list(told.server.receive(frame[:20])) == []
    told.server.get_buffer()[: len(frame) - 20] = frame[20:]
    assert told.server.repeat(len(frame) - 20) is None
    (request,) = told.server.receive(len(frame) - 20)
    assert isinstance(request.message, ProduceRequest)


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
def test_hostile_bytes_are_known_only_if_they_read_so(version: int, data: st.DataObject) -> None:
    """Whatever is changed: what is known is what the ordinary way would have read."""
    told = Told()
    told.learn(produce_of(b"records of some length"), version)
    frame = bytearray(told.frame(produce_of(b"records of some length"), version))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(4, len(frame) - 1))
        match data.draw(st.sampled_from(["change", "insert", "remove"])):
            case "change":
                frame[at] = data.draw(st.integers(0, 255))
            case "insert":
                frame[at:at] = data.draw(st.binary(max_size=200))
            case _:
                del frame[at : at + data.draw(st.integers(0, 20))]
    frame[:4] = pack(">i", len(frame) - 4)
    repeat = told.find(bytes(frame))
    if repeat is None or not repeat.records:
        return
    (request,) = ServerConnection().receive(bytes(frame))
    message = request.message
    assert isinstance(message, ProduceRequest)
    assert message == produce_of(bytes(repeat.records))
    assert request.correlation_id == repeat.correlation_id
    assert request.version == version and request.client_id == "a client"
