"""Clients that break the rules, against a broker in a process of its own.

They get a clear error or lose their connection, the broker's memory stays within bounds, its log
has a line for each at the most, and a client that behaves is answered all the while.
"""

from __future__ import annotations

import resource
import socket
import struct
import time
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from random import Random

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from odradek.kafka.wire.apis import APIS
from odradek.kafka.wire.batch import CHECKED_FROM, CONTROL, CRC, CRC_POSITION, HEADER_BYTES
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.crc import crc32c
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from odradek.kafka.wire.messages.fetch import FetchResponse
from odradek.kafka.wire.messages.produce import ProduceResponse
from tests.kafka.broker.asking import NAMES_VERSION, fetch_of, only, produce_of, told
from tests.kafka.server.asking import WAIT_S, created
from tests.kafka.server.running import RunningBroker, running_broker
from tests.kafka.server.speaking import Speaker
from tests.kafka.storage.logs import batch_of
from tests.processes import HOST

MEBIBYTE = 1 << 20
ANSWERED_WITHIN_S = 3.0  # Far more than it takes; the machine may have other things to do.
CONNECTIONS = 10_000
CONNECTION_BYTES_MAX = 20_000
VERSIONS = ApiVersionsRequest(client_software_name="test", client_software_version="1")


@pytest.fixture(scope="module", name="broker")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    with room_for_connections(), running_broker(tmp_path_factory.mktemp("broker")) as broker:
        created(broker, "t", 1)
        yield broker
        assert "Traceback" not in broker.log


@contextmanager
def room_for_connections() -> Iterator[None]:
    """The test has an end of each connection too. The broker raises its own limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def nobody_harmed(broker: RunningBroker, growth_bytes_max: int = 32 * MEBIBYTE) -> Iterator[None]:
    """Afterwards a client that behaves is answered at once, and the broker has not grown much."""
    with Speaker(broker) as neighbour:
        neighbour.put(b"before")
        before = broker.resident_bytes()
        yield
        is_answered_soon(neighbour)
        growth = broker.resident_bytes() - before
        assert growth < growth_bytes_max, f"{growth / MEBIBYTE:.0f} MiB more than before"


def is_answered_soon(neighbour: Speaker) -> None:
    begun_s = time.monotonic()
    neighbour.put(b"after")
    assert time.monotonic() - begun_s < ANSWERED_WITHIN_S


# Batches

GOOD = batch_of([b"a", b"b", b"c"])


def bent(position: int, form: str, value: int, data: bytes = GOOD) -> bytes:
    """A batch with another number at a place, and the checksum to it."""
    changed = bytearray(data)
    struct.pack_into(form, changed, position, value)
    CRC.pack_into(changed, CRC_POSITION, crc32c(memoryview(changed)[CHECKED_FROM:]))
    return bytes(changed)


def with_codec(codec: Codec, packed: bytes, count: int) -> bytes:
    """A batch whose records are these compressed bytes."""
    head = bytearray(GOOD[:HEADER_BYTES])
    struct.pack_into(">i", head, 8, HEADER_BYTES - 12 + len(packed))
    struct.pack_into(">h", head, 21, codec)
    struct.pack_into(">i", head, 23, count - 1)
    return bent(57, ">i", count, bytes(head) + packed)


CORRUPT, INVALID = ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_RECORD
MALFORMED = {
    "a wrong checksum": (GOOD[:-1] + b"x", CORRUPT),
    "a count of zero": (bent(57, ">i", 0), INVALID),
    "a negative count": (bent(57, ">i", -1), INVALID),
    "a huge count": (bent(57, ">i", 2**31 - 1), INVALID),
    "another last offset": (bent(23, ">i", 7), INVALID),
    "a huge last offset": (bent(23, ">i", 2**31 - 1, bent(57, ">i", -(2**31))), INVALID),
    "a negative length": (bent(8, ">i", -1), INVALID),
    "a length of zero": (bent(8, ">i", 0), CORRUPT),
    "a length of gigabytes": (bent(8, ">i", 2**31 - 1), INVALID),
    "a control batch": (bent(21, ">h", CONTROL), INVALID),
    "an unknown codec": (bent(21, ">h", 7), ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
    "an unknown magic": (bent(16, ">b", 9), INVALID),
    "half a batch": (GOOD[: len(GOOD) // 2], INVALID),
    "two batches": (GOOD + GOOD, INVALID),
    "nothing": (b"", INVALID),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_batch_that_is_wrong_is_refused_and_nothing_is_appended(
    broker: RunningBroker, name: str
) -> None:
    data, code = MALFORMED[name]
    with Speaker(broker) as client:
        before = client.put(b"x")
        answer = only(client.ask(produce_of(data), 9, ProduceResponse))
        assert (answer.error_code, answer.base_offset) == (code, -1)
        assert client.put(b"y") == before + 1


def test_records_that_would_unpack_to_gigabytes_are_refused(broker: RunningBroker) -> None:
    """They are looked into where keys are required, and where another codec is asked for."""
    packing = zlib.compressobj(9, wbits=31)
    zeros = bytes(MEBIBYTE)
    packed = b"".join(packing.compress(zeros) for _ in range(600)) + packing.flush()
    created_compacted(broker, "keyed")
    with nobody_harmed(broker, 128 * MEBIBYTE), Speaker(broker) as client:
        for _ in range(3):
            request = produce_of(with_codec(Codec.GZIP, packed, 1000), topic="keyed")
            assert only(client.ask(request, 9, ProduceResponse)).error_code == INVALID


def created_compacted(broker: RunningBroker, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": broker.address})
    new = NewTopic(topic, 1, 1, config={"cleanup.policy": "compact"})
    admin.create_topics([new])[topic].result(WAIT_S)


# Requests


def test_random_bytes_end_connections_and_nothing_else(broker: RunningBroker) -> None:
    random, lines_before = Random(5), broker.log.count("\n")
    with nobody_harmed(broker):
        for _ in range(300):
            with Speaker(broker) as client, suppress(ConnectionError):
                client.socket.sendall(random.randbytes(random.randrange(1, 5000)))
                client.socket.shutdown(socket.SHUT_WR)
                assert client.is_ended()
    assert broker.log.count("\n") - lines_before <= 310


def test_frames_of_random_bytes_for_every_api_and_version_do_no_harm(
    broker: RunningBroker,
) -> None:
    random = Random(7)
    with nobody_harmed(broker):
        for key in [*APIS, 999, -1]:
            for version in (0, 1, 5, 9, 99, -1):
                body = random.randbytes(random.randrange(200))
                frame = struct.pack(">hhih", key, version, 1, -1) + body
                with Speaker(broker) as client, suppress(ConnectionError):
                    client.socket.sendall(struct.pack(">i", len(frame)) + frame)
                    client.socket.shutdown(socket.SHUT_WR)
                    assert client.is_ended()


def test_a_request_that_is_cut_short_ends_its_connection(broker: RunningBroker) -> None:
    with nobody_harmed(broker):
        with Speaker(broker) as client:
            whole = client.encoded(produce_of(GOOD), 9)[4:]
        for end in range(8, len(whole), 7):
            with Speaker(broker) as client:
                client.socket.sendall(struct.pack(">i", end) + whole[:end])
                client.socket.shutdown(socket.SHUT_WR)
                assert client.is_ended()


def test_a_request_larger_than_allowed_is_not_waited_for(broker: RunningBroker) -> None:
    with nobody_harmed(broker), Speaker(broker) as client:
        client.socket.sendall(struct.pack(">i", 100 * MEBIBYTE + 1))
        assert client.is_ended()


def test_lengths_that_are_only_claimed_cost_nothing(broker: RunningBroker) -> None:
    """A hundred clients announce the largest request, and send a little of it."""
    with nobody_harmed(broker, 150 * MEBIBYTE), ExitStack() as clients:
        for _ in range(100):
            client = clients.enter_context(Speaker(broker))
            client.socket.sendall(struct.pack(">i", 100 * MEBIBYTE) + bytes(1000))


# Too many, too much, too slow


def test_idle_connections_cost_little(tmp_path: Path) -> None:
    with room_for_connections(), running_broker(tmp_path) as broker, ExitStack() as stack:
        created(broker, "t", 1)
        _, files_max = resource.getrlimit(resource.RLIMIT_NOFILE)
        count, where = min(CONNECTIONS, files_max - 500), (HOST, broker.port)
        with Speaker(broker) as neighbour:
            neighbour.put(b"before")
            before = broker.resident_bytes()
            idle = [stack.enter_context(socket.create_connection(where)) for _ in range(count)]
            for each in idle:
                each.sendall(struct.pack(">ihhih", 10, 18, 0, 1, -1))
            for each in idle:
                assert each.recv(1000)
            growth = broker.resident_bytes() - before
            print(f"{growth / count:.0f} bytes a connection")
            assert growth / count < CONNECTION_BYTES_MAX
            is_answered_soon(neighbour)


def test_whoever_does_not_read_is_not_written_for(broker: RunningBroker) -> None:
    """A hundred mebibytes are asked for and not taken, then all of them are."""
    with Speaker(broker) as client:
        offset = client.put(bytes(900_000))
    with nobody_harmed(broker), Speaker(broker, receive_bytes=4096) as slow:
        for _ in range(110):
            slow.send(fetch_of(offset), NAMES_VERSION)
        with Speaker(broker) as neighbour:
            for _ in range(20):
                is_answered_soon(neighbour)
        for _ in range(110):
            answer = slow.receive()
            assert isinstance(answer, FetchResponse) and told(answer)[0].error_code == 0


def test_whoever_never_reads_holds_little(broker: RunningBroker) -> None:
    with Speaker(broker) as client:
        offset = client.put(bytes(900_000))
    with nobody_harmed(broker, 64 * MEBIBYTE), ExitStack() as stack:
        for _ in range(10):
            slow = stack.enter_context(Speaker(broker, receive_bytes=4096))
            for _ in range(100):
                slow.send(fetch_of(offset), NAMES_VERSION)
        with Speaker(broker) as neighbour:
            for _ in range(20):
                is_answered_soon(neighbour)


def test_ten_thousand_requests_at_once_are_answered_in_their_order(broker: RunningBroker) -> None:
    with nobody_harmed(broker), Speaker(broker) as eager, Speaker(broker) as neighbour:
        request = produce_of(batch_of([b"x"]))
        eager.socket.setblocking(False)
        unsent, answers = b"".join(eager.encoded(request, 9) for _ in range(10_000)), 0
        last = -1
        while answers < 10_000:
            with suppress(BlockingIOError):
                unsent = unsent[eager.socket.send(unsent) :] if unsent else unsent
            with suppress(BlockingIOError):
                for each in eager.wire.receive(eager.socket.recv(1 << 20)):
                    answer = each.message
                    assert isinstance(answer, ProduceResponse)
                    assert only(answer).base_offset > last
                    last = only(answer).base_offset
                    answers += 1
        is_answered_soon(neighbour)


def test_whoever_has_said_all_gets_all_answers(broker: RunningBroker) -> None:
    with Speaker(broker) as client:
        offset = client.put(b"x")
        for _ in range(100):
            client.send(VERSIONS, 3)
            client.send(fetch_of(offset), NAMES_VERSION)
        client.send(fetch_of(offset + 1, wait_ms=100), NAMES_VERSION)
        client.send(VERSIONS, 3)
        client.socket.shutdown(socket.SHUT_WR)
        for _ in range(201):
            client.receive()
        assert isinstance(client.receive(), ApiVersionsResponse)
        assert client.is_ended()


def test_when_there_are_enough_connections_the_next_wait(tmp_path: Path) -> None:
    with running_broker(tmp_path, **{"max.connections": 3}) as broker, ExitStack() as stack:
        clients = [stack.enter_context(Speaker(broker)) for _ in range(6)]
        for each in clients:
            each.send(VERSIONS, 3)
        last = clients[-1].socket
        last.settimeout(0.1)
        with pytest.raises(TimeoutError):
            last.recv(1)
        last.settimeout(ANSWERED_WITHIN_S)
        for each in clients:
            assert isinstance(each.receive(), ApiVersionsResponse)
            each.socket.close()
