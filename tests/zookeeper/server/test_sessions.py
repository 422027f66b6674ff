"""Sessions outlive connections and restarts, and end with their time-out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
from kazoo.client import KazooClient, KazooState
from kazoo.protocol.states import EventType

from odradek.zookeeper.wire.codes import CreateMode, Op
from odradek.zookeeper.wire.messages.data import open_acl
from odradek.zookeeper.wire.messages.requests import CreateRequest, GetACLRequest
from odradek.zookeeper.wire.messages.session import (
    ConnectRequest,
    ConnectResponse,
    ReplyHeader,
)
from odradek.zookeeper.wire.requests import encode_request
from tests.waiting import PATIENCE_S, wait_until
from tests.zookeeper.server.conftest import TICK_MS, Connect, leave
from tests.zookeeper.server.raw_client import RawClient
from tests.zookeeper.server.running import RunningServer, running_server


def hold_ephemeral(client: RawClient, path: str) -> None:
    request = CreateRequest(path, b"", open_acl(), CreateMode.EPHEMERAL)
    client.send(encode_request(1, Op.CREATE, request))
    assert client.receive() is not None


def test_the_ephemerals_of_a_client_that_is_cut_off_vanish_after_its_time_out(
    server: RunningServer, connect: Connect
) -> None:
    watcher = connect()
    with RawClient(server.port) as doomed:
        session = doomed.open_session(timeout_ms=2 * TICK_MS)
        hold_ephemeral(doomed, "/doomed")
    events: Queue[Any] = Queue()
    stat = watcher.exists("/doomed", watch=events.put)
    assert stat.ephemeralOwner == session.session_id
    assert events.get(timeout=PATIENCE_S).type == EventType.DELETED


def test_the_ephemerals_of_a_client_that_comes_back_in_time_stay(
    server: RunningServer, connect: Connect
) -> None:
    with RawClient(server.port) as first:
        session = first.open_session(timeout_ms=20 * TICK_MS)
        hold_ephemeral(first, "/lasting")
    client = connect(client_id=(session.session_id, session.passwd))
    assert client.client_id[0] == session.session_id
    assert client.exists("/lasting").ephemeralOwner == session.session_id


def test_a_silent_client_loses_its_connection_with_its_session(server: RunningServer) -> None:
    with RawClient(server.port) as silent:
        silent.open_session(timeout_ms=2 * TICK_MS)
        assert silent.receive() is None


def test_what_is_asked_along_with_a_session_is_answered_after_it(server: RunningServer) -> None:
    hasty = encode_request(1, Op.GET_ACL, GetACLRequest("/")) + encode_request(-2, Op.PING)
    with RawClient(server.port) as client:
        opening = ConnectRequest(0, 0, 4000, 0, bytes(16), False).encode()
        client.send(len(opening).to_bytes(4) + opening + hasty)
        answers = [client.receive() or b"" for _ in range(3)]
    assert ConnectResponse.decode(answers[0]).time_out == 4000
    assert [ReplyHeader.decode(answer).xid for answer in answers[1:]] == [1, -2]


def test_nothing_is_answered_after_a_session_has_ended(server: RunningServer) -> None:
    late = CreateRequest("/late", b"", open_acl(), CreateMode.PERSISTENT)
    with RawClient(server.port) as client:
        client.open_session()
        client.send(
            encode_request(1, Op.CLOSE_SESSION)
            + encode_request(2, Op.CREATE, late)
            + encode_request(3, Op.GET_ACL, GetACLRequest("/"))
        )
        assert ReplyHeader.decode(client.receive() or b"").xid == 1
        assert client.receive() is None


@pytest.mark.parametrize("end", [RunningServer.stop, RunningServer.kill], ids=["stop", "kill"])
def test_a_session_and_its_ephemerals_outlive_a_restart(
    end: Callable[[RunningServer], None], tmp_path: Path
) -> None:
    with running_server(tmp_path, tickTime=TICK_MS) as server:
        client = KazooClient(server.connect_string, timeout=20 * TICK_MS / 1000)
        client.start()
        client.create("/held", b"x", ephemeral=True)
        before = client.client_id
        suspended: Queue[KazooState] = Queue()
        client.add_listener(suspended.put)
        end(server)
        assert suspended.get(timeout=PATIENCE_S) == KazooState.SUSPENDED
        server.start()
        wait_until(lambda: client.connected)
        assert client.client_id == before
        assert client.get("/held")[1].ephemeralOwner == before[0]
        leave(client)


def test_what_was_answered_is_there_after_a_crash(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        client = KazooClient(server.connect_string)
        client.start()
        for number in range(50):
            client.create(f"/n{number}", str(number).encode())
        server.kill()
        server.start()
        wait_until(lambda: client.connected)
        for number in range(50):
            assert client.retry(client.get, f"/n{number}")[0] == str(number).encode()
        leave(client)
