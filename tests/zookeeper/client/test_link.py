"""One connection: it pings, minds silence, keeps the order, and trusts no bytes."""

from __future__ import annotations

import asyncio

import pytest

from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.errors import (
    ConnectionLoss,
)
from odradek.zookeeper.client.events import Events
from odradek.zookeeper.client.states import State
from odradek.zookeeper.wire.codes import EventType, Op
from odradek.zookeeper.wire.messages.session import ConnectRequest, ConnectResponse
from odradek.zookeeper.wire.requests import Request
from tests.zookeeper.client.scripted import ScriptedServer, pass_time, play


def test_pings_keep_an_idle_session_alive() -> None:
    server = ScriptedServer(timeout_ms=6000)

    async def story(client: ZooKeeperClient) -> None:
        await client.connect()
        await pass_time(60)
        assert client.state is State.CONNECTED
        assert 28 <= len(server.asked(Op.PING)) <= 31

    play(story, server)
    assert len(server.connects) == 1


def test_a_busy_connection_needs_no_pings() -> None:
    server = ScriptedServer(timeout_ms=6000)

    async def story(client: ZooKeeperClient) -> None:
        await client.connect()
        for _ in range(20):
            await client.get_data("/a")
            await pass_time(1)
        assert server.asked(Op.PING) == []

    play(story, server)


def test_a_server_gone_silent_is_left_after_two_thirds_of_the_time_out() -> None:
    server = ScriptedServer(timeout_ms=6000)

    async def story(client: ZooKeeperClient) -> None:
        loop = asyncio.get_running_loop()
        await client.connect()
        await pass_time(30)
        server.is_silent = True
        last_ping = len(server.asked(Op.PING))
        began_at = loop.time()
        await client.until(State.SUSPENDED)
        assert 3.9 - 2 < loop.time() - began_at < 4.1
        assert len(server.asked(Op.PING)) > last_ping
        server.is_silent = False
        await client.until(State.CONNECTED)

    play(story, server)
    assert len(server.connects) >= 2


def test_an_event_does_not_count_as_seen() -> None:
    server = ScriptedServer()

    async def story(client: ZooKeeperClient) -> None:
        events = Events()
        await client.connect()
        await client.get_data("/a", watch=events)
        server.notify(EventType.DATA_CHANGED, "/a")
        await events.next()
        assert client.last_zxid == 100

    play(story, server)


def test_an_event_is_told_before_a_reply_that_came_after_it() -> None:
    server = ScriptedServer()
    told: list[str] = []

    async def story(client: ZooKeeperClient) -> None:
        await client.connect()
        await client.get_data("/a", watch=lambda event: told.append(event.path))
        server.notify(EventType.DATA_CHANGED, "/a")
        await client.get_data("/b")
        assert told == ["/a"]

    play(story, server)


HOSTILE = {
    "a length beyond the limit": b"\x7f\xff\xff\xff",
    "a negative length": b"\xff\xff\xff\xff",
    "a reply nobody asked for": bytes.fromhex("00000010 00000063 0000000000000001 00000000"),
    "a header cut short": bytes.fromhex("00000004 00000001"),
    "an event of no known type": bytes.fromhex(
        "00000020 ffffffff ffffffffffffffff 00000000 00000063 00000003 00000002 2f61 0000"
    ),
    "watches refused": bytes.fromhex("00000010 fffffff8 0000000000000001 ffffffff"),
}


@pytest.mark.parametrize("poison", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_server_that_breaks_the_protocol_loses_its_connection(poison: bytes) -> None:
    servers = [ScriptedServer(), ScriptedServer()]

    async def story(client: ZooKeeperClient) -> None:
        await client.connect()
        first, second = sorted(servers, key=lambda server: -len(server.connects))
        first.answer = lambda request: poison
        with pytest.raises(ConnectionLoss):
            await client.get_data("/a")
        assert await client.get_data("/a")
        assert (len(first.connects), len(second.connects)) == (1, 1)

    play(story, *servers)


def test_a_server_that_answers_nonsense_to_connect_is_passed_over() -> None:
    bad, good = ScriptedServer(), ScriptedServer()
    bad.is_silent = True

    def answer_nonsense(request: ConnectRequest) -> ConnectResponse | None:
        for link in bad.links:
            link.transport.write(b"\x00\x00\x00\x02no")
        return bad.welcome(request)

    bad.answer_connect = answer_nonsense

    async def story(client: ZooKeeperClient) -> None:
        await client.connect(timeout_s=1)

    for seed in range(4):
        play(story, bad, good, seed=seed)
    assert bad.connects


def test_many_requests_are_answered_in_order() -> None:
    server = ScriptedServer()

    async def story(client: ZooKeeperClient) -> None:
        await client.connect()
        done: list[str] = []
        calls = [client.create(f"/{number}") for number in range(1000)]
        for call in calls:
            call.add_done_callback(lambda call: done.append(call.result()))
        await asyncio.gather(*calls)
        assert done == [f"/{number}" for number in range(1000)]

    play(story, server)


def test_a_caller_that_gives_up_disturbs_no_other() -> None:
    server = ScriptedServer()

    async def story(client: ZooKeeperClient) -> None:
        await client.connect()
        first, second = client.create("/a"), client.create("/b")
        first.cancel()
        assert await second == "/b"

    play(story, server)


def test_a_watch_is_there_as_soon_as_its_reply() -> None:
    server = ScriptedServer()

    async def story(client: ZooKeeperClient) -> None:
        events = Events()
        await client.connect()
        asked = client.get_data("/a", watch=events)

        def reply_and_notify(request: Request) -> bytes:
            asyncio.get_running_loop().call_soon(server.notify, EventType.DATA_CHANGED, "/a")
            return server.reply(request)

        server.answer = reply_and_notify
        await asked
        assert (await events.next()).path == "/a"

    play(story, server)


def test_what_cannot_be_written_is_the_callers_error_even_while_it_would_wait() -> None:
    server = ScriptedServer()

    async def story(client: ZooKeeperClient) -> None:
        await client.connect()
        server.hang_up()
        await client.until(State.SUSPENDED)
        with pytest.raises((AttributeError, TypeError)):
            client.set_data("/a", "text")  # type: ignore[arg-type]
        await client.get_data("/a")

    play(story, server)
