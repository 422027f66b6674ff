"""A session outlives its connections: what it does when they break."""

from __future__ import annotations

import asyncio
import logging

import pytest

from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.errors import (
    AuthFailed,
    ClientClosed,
    ConnectionLoss,
    SessionExpired,
)
from odradek.zookeeper.client.events import Events
from odradek.zookeeper.client.states import State
from odradek.zookeeper.client.watches import WatchEvent
from odradek.zookeeper.wire.codes import EventType, Op
from odradek.zookeeper.wire.errors import Error
from odradek.zookeeper.wire.messages.requests import SetWatches
from odradek.zookeeper.wire.messages.session import ConnectRequest, ConnectResponse
from tests.zookeeper.client.scripted import PASSWORD, ScriptedServer, no_node, pass_time, play


def test_a_new_session_takes_what_the_server_grants() -> None:
    server = ScriptedServer(session_id=9, timeout_ms=4000)

    async def story(client: ZooKeeperClient) -> None:
        await client.connect()
        assert client.state is State.CONNECTED
        assert (client.session_id, client.session_timeout_s) == (9, 4.0)

    play(story, server, session_timeout_ms=60_000)
    (hello,) = server.connects
    assert (hello.time_out, hello.session_id, hello.passwd) == (60_000, 0, bytes(16))


def test_after_a_lost_connection_the_session_goes_on_with_the_next_server() -> None:
    servers = [ScriptedServer(), ScriptedServer()]
    seen: list[State] = []

    async def story(client: ZooKeeperClient) -> None:
        client.listen(seen.append)
        await client.connect()
        await client.get_data("/a")
        first, second = sorted(servers, key=lambda server: -len(server.connects))
        first.hang_up()
        await client.until(State.SUSPENDED)
        await client.until(State.CONNECTED)
        assert (len(first.connects), len(second.connects)) == (1, 1)
        (hello,) = second.connects
        assert (hello.session_id, hello.passwd, hello.last_zxid_seen) == (7, PASSWORD, 100)
        await client.get_data("/a")
        assert [second.requests[-1].xid, first.requests[-1].xid] == [2, 1]

    play(story, *servers)
    assert seen == [
        State.SUSPENDED,
        State.CONNECTED,
        State.SUSPENDED,
        State.CONNECTED,
        State.CLOSED,
    ]


def test_a_server_that_is_down_is_passed_over() -> None:
    server = ScriptedServer()

    async def story(client: ZooKeeperClient) -> None:
        await client.connect()
        assert client.state is State.CONNECTED

    deaf = ScriptedServer()
    deaf.is_silent = True
    closing = ScriptedServer()
    closing.answer_connect = lambda request: None
    for seed in range(6):
        play(story, deaf, server, closing, seed=seed)
    assert deaf.connects
    assert closing.connects


def test_a_server_that_welcomes_and_lies_in_one_breath_loses_no_request() -> None:
    server = ScriptedServer()

    def welcome_and_lie(request: ConnectRequest) -> ConnectResponse | None:
        asyncio.get_running_loop().call_soon(server.notify, 99, "/a")
        return server.welcome(request)

    async def story(client: ZooKeeperClient) -> None:
        await client.connect()
        server.answer_connect = welcome_and_lie
        server.hang_up()
        await client.until(State.SUSPENDED)
        waiting = [client.create("/a"), client.create("/b")]
        await pass_time(2)
        server.answer_connect = server.welcome
        outcomes = await asyncio.gather(*waiting, return_exceptions=True)
        assert all(isinstance(outcome, str | ConnectionLoss) for outcome in outcomes)
        assert len(server.connects) > 2

    for seed in range(5):
        play(story, server, seed=seed)


def test_the_time_to_connect_is_shared_by_the_servers() -> None:
    servers = [ScriptedServer() for _ in range(3)]
    for server in servers:
        server.is_silent = True

    async def story(client: ZooKeeperClient) -> None:
        with pytest.raises(ConnectionLoss):
            await client.connect(timeout_s=5.9)
        assert client.state is State.CLOSED
        assert [len(server.connects) for server in servers] == [1, 1, 1]

    play(story, *servers, session_timeout_ms=6000)


def test_requests_in_flight_fail_when_the_connection_is_lost() -> None:
    server = ScriptedServer()

    async def story(client: ZooKeeperClient) -> None:
        await client.connect()
        server.is_silent = True
        first, second = client.get_data("/a"), client.delete("/b")
        await pass_time(1)
        server.hang_up()
        with pytest.raises(ConnectionLoss) as caught:
            await first
        assert caught.value.path == "/a"
        assert client.state is State.SUSPENDED
        with pytest.raises(ConnectionLoss):
            await second

    play(story, server)


def test_requests_made_without_a_connection_wait_for_the_next_one() -> None:
    server = ScriptedServer()

    async def story(client: ZooKeeperClient) -> None:
        await client.connect()
        server.hang_up()
        await client.until(State.SUSPENDED)
        waiting = [client.create(f"/{name}") for name in "abc"]
        waiting[1].cancel()
        results = await asyncio.gather(*waiting, return_exceptions=True)
        assert (results[0], results[2]) == ("/a", "/c")
        assert len(server.asked(Op.CREATE)) == 2

    play(story, server)


def test_requests_wait_no_longer_than_the_session_may_last() -> None:
    server = ScriptedServer(timeout_ms=6000)

    async def story(client: ZooKeeperClient) -> None:
        await client.connect()
        server.answer_connect = lambda request: None
        server.hang_up()
        lost_at = asyncio.get_running_loop().time()
        await client.until(State.SUSPENDED)
        with pytest.raises(ConnectionLoss):
            await client.get_data("/a")
        waited_s = asyncio.get_running_loop().time() - lost_at
        assert 5.9 < waited_s < 6.1
        with pytest.raises(ConnectionLoss):
            await client.get_data("/a")
        assert asyncio.get_running_loop().time() - lost_at == waited_s
        server.answer_connect = server.welcome
        await client.until(State.CONNECTED)
        await client.get_data("/a")

    play(story, server)


def test_a_session_that_has_expired_is_lost_and_all_who_wait_hear_of_it() -> None:
    server = ScriptedServer()

    async def story(client: ZooKeeperClient) -> None:
        events = Events()
        await client.connect()
        await client.get_data("/a", watch=events)
        await client.get_children("/a", watch=events)
        server.answer_connect = server.expire
        server.hang_up()
        await client.until(State.SUSPENDED)
        with pytest.raises(SessionExpired):
            await client.get_data("/a")
        assert client.state is State.LOST
        assert await events.next() == WatchEvent(EventType.NONE, "")
        assert len(events) == 0
        with pytest.raises(SessionExpired):
            await client.get_data("/a")

    play(story, server)


def test_after_a_lost_session_connect_begins_another() -> None:
    server = ScriptedServer()

    async def story(client: ZooKeeperClient) -> None:
        await client.connect()
        server.answer_connect = server.expire
        server.hang_up()
        await client.until(State.LOST)
        server.answer_connect = server.welcome
        server.session_id = 8
        await client.connect()
        assert client.session_id == 8
        assert server.connects[-1].session_id == server.connects[-1].last_zxid_seen == 0

    play(story, server)


def test_watches_are_set_anew_before_anything_else_is_asked() -> None:
    server = ScriptedServer()

    async def story(client: ZooKeeperClient) -> None:
        events = Events()
        await client.connect()
        await client.get_data("/data", watch=events)
        await client.get_children("/child", watch=events)
        server.answer = no_node(server)
        assert await client.exists("/missing", watch=events) is None
        server.answer = server.reply
        server.requests.clear()
        server.hang_up()
        await client.until(State.SUSPENDED)
        await client.get_data("/other")
        set_anew, other = server.requests
        assert set_anew.record == SetWatches(100, ["/c/data"], ["/c/missing"], ["/c/child"])
        assert other.type == Op.GET_DATA

    play(story, server, chroot="/c")


def test_missed_events_come_after_a_reconnect() -> None:
    server = ScriptedServer()

    async def story(client: ZooKeeperClient) -> None:
        events = Events()
        await client.connect()
        await client.get_data("/a", watch=events)
        server.hang_up()
        await client.until(State.SUSPENDED)
        await client.until(State.CONNECTED)
        server.notify(EventType.DATA_CHANGED, "/a")
        assert await events.next() == WatchEvent(EventType.DATA_CHANGED, "/a", -1)
        server.requests.clear()
        server.hang_up()
        await client.until(State.SUSPENDED)
        await client.get_data("/a")
        assert server.asked(Op.SET_WATCHES) == []

    play(story, server)


def test_each_connection_is_told_who_we_are() -> None:
    server = ScriptedServer()

    async def story(client: ZooKeeperClient) -> None:
        await client.connect()
        await client.add_auth("digest", b"second:secret")
        server.requests.clear()
        server.hang_up()
        await client.until(State.SUSPENDED)
        await client.get_data("/a")
        first, second, other = server.requests
        assert [first.type, second.type, other.type] == [Op.AUTH, Op.AUTH, Op.GET_DATA]

    play(story, server, auth=(("digest", b"first:secret"),))


def test_whom_the_server_does_not_believe_has_no_session() -> None:
    server = ScriptedServer()

    async def story(client: ZooKeeperClient) -> None:
        await client.connect()
        server.answer = lambda request: server.reply(request, Error.AUTH_FAILED)
        with pytest.raises(AuthFailed):
            await client.add_auth("nonsense", b"")
        assert await client.until(State.AUTH_FAILED)
        with pytest.raises(AuthFailed):
            await client.get_data("/a")

    play(story, server)
    assert len(server.connects) == 1


def test_a_connection_that_breaks_again_and_again_is_not_tried_without_pause() -> None:
    server = ScriptedServer()
    server.answer_connect = lambda request: None

    async def story(client: ZooKeeperClient) -> None:
        with pytest.raises(ConnectionLoss):
            await client.connect(timeout_s=60)

    play(story, server)
    assert 60 < len(server.connects) < 240


def test_a_session_made_up_by_a_server_cut_off_is_not_taken_elsewhere() -> None:
    server = ScriptedServer(session_id=99)
    server.is_read_only = True

    async def story(client: ZooKeeperClient) -> None:
        await client.connect()
        assert client.state is State.CONNECTED_READ_ONLY
        server.is_read_only = False
        server.hang_up()
        await client.until(State.CONNECTED)
        server.hang_up()
        await client.until(State.SUSPENDED)
        await client.until(State.CONNECTED)

    play(story, server, can_be_read_only=True)
    assert [hello.session_id for hello in server.connects] == [0, 0, 99]
    assert all(hello.read_only for hello in server.connects)


def test_a_server_cut_off_is_left_for_one_that_takes_writes() -> None:
    servers = [ScriptedServer(), ScriptedServer(), ScriptedServer()]

    async def story(client: ZooKeeperClient) -> None:
        for server in servers:
            server.is_read_only = True
        await client.connect()
        assert client.state is State.CONNECTED_READ_ONLY
        await pass_time(10)
        assert sum(len(server.connects) for server in servers) == 1
        writer = next(server for server in servers if not server.connects)
        writer.is_read_only = False
        await client.until(State.CONNECTED)
        assert len(writer.connects) == 1

    play(story, *servers, can_be_read_only=True)


def test_close_says_goodbye_and_fails_what_waits() -> None:
    server = ScriptedServer()

    async def story(client: ZooKeeperClient) -> None:
        events = Events()
        await client.connect()
        await client.get_data("/a", watch=events)
        last = client.create("/last")
        await client.close()
        assert await last == "/last"
        assert server.requests[-1].type == Op.CLOSE_SESSION
        assert client.state is State.CLOSED
        assert (await events.next()).type is EventType.NONE
        with pytest.raises(ClientClosed):
            await client.get_data("/a")

    play(story, server)


def test_close_does_not_wait_for_ever_for_a_silent_server() -> None:
    server = ScriptedServer(timeout_ms=6000)

    async def story(client: ZooKeeperClient) -> None:
        await client.connect()
        server.is_silent = True
        began_at = asyncio.get_running_loop().time()
        await client.close()
        assert asyncio.get_running_loop().time() - began_at < 6.1

    play(story, server)


def test_a_client_that_was_never_connected_refuses() -> None:
    async def story(client: ZooKeeperClient) -> None:
        with pytest.raises(ClientClosed):
            await client.get_data("/a")

    play(story, ScriptedServer())


def test_the_log_says_why_a_connection_was_lost(caplog: pytest.LogCaptureFixture) -> None:
    server = ScriptedServer()

    async def story(client: ZooKeeperClient) -> None:
        await client.connect()
        server.hang_up()
        await client.until(State.SUSPENDED)

    with caplog.at_level(logging.INFO, "odradek"):
        play(story, server)
    assert "session 0x7 is connected to server0:2181" in caplog.text
    assert "session 0x7 lost its connection" in caplog.text
