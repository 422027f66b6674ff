"""Clients that mean harm, or are broken: they are stopped, and nobody else notices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random
from struct import unpack_from

import pytest

from odradek.zookeeper.wire.codes import AddWatchMode, Op
from odradek.zookeeper.wire.messages.data import open_acl
from odradek.zookeeper.wire.messages.requests import (
    AddWatchRequest,
    CreateRequest,
    GetDataRequest,
    SetDataRequest,
)
from odradek.zookeeper.wire.requests import encode_request
from tests.waiting import wait_until
from tests.zookeeper.server.raw_client import RawClient
from tests.zookeeper.server.running import RunningServer, running_server

MEBIBYTE = 1024 * 1024
LIMIT = 100  # How many requests may be under way.


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    settings = {"maxClientCnxns": 0, "forceSync": "no", "globalOutstandingLimit": LIMIT}
    with running_server(tmp_path, **settings) as running:
        yield running
        assert "Traceback" not in running.log


def create(xid: int, path: str, data: bytes = b"") -> bytes:
    return encode_request(xid, Op.CREATE, CreateRequest(path, data, open_acl(), 0))


def set_data(xid: int, path: str) -> bytes:
    return encode_request(xid, Op.SET_DATA, SetDataRequest(path, b"", -1))


def get_data(xid: int, path: str) -> bytes:
    return encode_request(xid, Op.GET_DATA, GetDataRequest(path, False))


def answered_xid(client: RawClient) -> int:
    answer = client.receive()
    assert answer is not None, "the server ended the connection"
    xid: int = unpack_from(">i", answer)[0]
    return xid


def assert_all_is_well(server: RunningServer) -> None:
    """Whoever behaves is served."""
    with RawClient(server.port) as client:
        client.open_session()
        client.send(get_data(1, "/"))
        assert answered_xid(client) == 1


def outstanding(server: RunningServer) -> int:
    with RawClient(server.port) as operator:
        operator.send(b"srvr")
        answer = operator.receive_all()
        found = re.search(rb"Outstanding: (\d+)", answer)
        assert found is not None, answer
        return int(found[1])


@pytest.mark.parametrize(
    "first",
    [
        "7fffffff",  # As long as can be said.
        "80000000",
        "ffffffff",
        "00100000",  # One more than may be.
        "00000000",  # Nothing, where a ConnectRequest should be.
        "00000008 0000000000000000",
        "474554202f20485454502f312e310d0a0d0a",  # A browser.
        "16030100a5010000a10303",  # TLS.
    ],
)
def test_who_starts_with_nonsense_is_cut_off(server: RunningServer, first: str) -> None:
    with RawClient(server.port) as client:
        client.send(bytes.fromhex(first))
        assert client.receive_all() == b""
    assert_all_is_well(server)


@pytest.mark.parametrize("frame", ["7fffffff", "ffffffff", "00100000", "0000000400000001"])
def test_who_goes_on_with_nonsense_is_cut_off(server: RunningServer, frame: str) -> None:
    with RawClient(server.port) as client:
        client.open_session()
        client.send(bytes.fromhex(frame))
        assert client.receive_all() == b""
    assert_all_is_well(server)


def test_random_bytes_do_no_harm(server: RunningServer) -> None:
    random = Random(1)
    for _ in range(200):
        with RawClient(server.port) as client:
            if random.random() < 0.5:
                client.open_session()
            client.send(random.randbytes(random.randint(1, 300)))
    assert_all_is_well(server)


def test_random_requests_do_no_harm(server: RunningServer) -> None:
    """Whole frames, with types that exist, and bodies that are none."""
    random, types = Random(2), [op.value for op in Op if op != Op.CLOSE_SESSION]
    for _ in range(40):
        with RawClient(server.port) as client:
            client.open_session()
            for xid in range(20):
                body = random.randbytes(random.randint(0, 40))
                op = random.choice(types).to_bytes(4, signed=True)
                client.send_frame(xid.to_bytes(4) + op + body)
    assert_all_is_well(server)


def test_who_says_nothing_is_dropped_after_a_while(tmp_path: Path) -> None:
    settings = {"nio.sessionlessCnxnTimeout": 300}
    with running_server(tmp_path, **settings) as server, ExitStack() as stack:
        silent, slow = (stack.enter_context(RawClient(server.port)) for _ in range(2))
        slow.send(b"\0\0")
        assert silent.receive() is None
        assert slow.receive() is None


def test_an_address_may_have_so_many_connections_and_no_more(tmp_path: Path) -> None:
    with running_server(tmp_path, maxClientCnxns=5) as server, ExitStack() as stack:
        # The one that looked whether the server was up may not be gone yet.
        wait_until(lambda: may_enter(server.port))
        admitted = [stack.enter_context(RawClient(server.port)) for _ in range(5)]
        for client in admitted:
            client.open_session()
        for _ in range(20):
            with RawClient(server.port) as late:
                assert late.receive_all() == b""
        admitted[0].close()
        wait_until(lambda: may_enter(server.port))


def may_enter(port: int) -> bool:
    with RawClient(port) as client:
        client.send(b"srvr")
        return client.receive_all() != b""


def test_a_long_pipeline_is_answered_in_order_and_within_the_limit(server: RunningServer) -> None:
    count = 10_000
    with RawClient(server.port) as client:
        client.open_session()
        later = (set_data(xid, "/n") if xid % 3 else get_data(xid, "/n") for xid in range(2, count))
        client.send(create(1, "/n") + b"".join(later))
        most = outstanding(server)
        for xid in range(1, count):
            assert answered_xid(client) == xid
            if xid % 1000 == 0:
                most = max(most, outstanding(server))
    assert most <= LIMIT


def test_answers_wait_for_a_client_that_does_not_read(server: RunningServer) -> None:
    count = 200
    with RawClient(server.port) as slow:
        slow.open_session(timeout_ms=40_000)
        slow.send(create(1, "/large", bytes(MEBIBYTE - 1000)))
        assert answered_xid(slow) == 1
        before = server.resident_bytes()
        slow.send(b"".join(get_data(xid, "/large") for xid in range(2, count)))
        assert_all_is_well(server)
        assert server.resident_bytes() - before < 32 * MEBIBYTE
        for xid in range(2, count):
            assert answered_xid(slow) == xid


def test_a_watcher_that_does_not_read_its_events_is_dropped(server: RunningServer) -> None:
    path = "/" + "n" * (MEBIBYTE // 2)
    with RawClient(server.port) as slow, RawClient(server.port) as writer:
        slow.open_session(timeout_ms=40_000)
        watch = AddWatchRequest("/", AddWatchMode.PERSISTENT_RECURSIVE)
        slow.send(encode_request(1, Op.ADD_WATCH, watch))
        assert answered_xid(slow) == 1
        writer.open_session()
        before = server.resident_bytes()
        writer.send(create(1, path))
        for xid in range(1, 100):
            assert answered_xid(writer) == xid
            writer.send(set_data(xid + 1, path))
        wait_until(lambda: "does not read what it is sent" in server.log)
        assert server.resident_bytes() - before < 64 * MEBIBYTE
    assert_all_is_well(server)
