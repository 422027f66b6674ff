"""A place that may be gone counts as gone."""

from __future__ import annotations

import asyncio
from random import Random
from typing import cast

import pytest

from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.place import PlaceLost
from odradek.zookeeper.client.recipes import Lock
from odradek.zookeeper.client.states import State
from odradek.zookeeper.wire.codes import EventType, Op
from odradek.zookeeper.wire.messages.requests import CreateRequest
from odradek.zookeeper.wire.messages.responses import (
    CreateResponse,
    ExistsResponse,
    GetChildrenResponse,
    SyncResponse,
)
from odradek.zookeeper.wire.operations import Body
from odradek.zookeeper.wire.replies import encode_reply
from odradek.zookeeper.wire.requests import Request
from tests.zookeeper.client.scripted import STAT, ScriptedServer, pass_time, play


class LineServer(ScriptedServer):
    """Knows the places of one line, and never a reason to remove them."""

    def __init__(self) -> None:
        super().__init__(timeout_ms=6000)
        self.names: list[str] = []
        self.answer = self._answer

    def _answer(self, request: Request) -> bytes:
        return encode_reply(request.xid, self.zxid, self._do(request))

    def _do(self, request: Request) -> Body | None:
        match request.type:
            case Op.CREATE:
                path = f"{cast(CreateRequest, request.record).path}{len(self.names):010d}"
                self.names.append(path.rpartition("/")[2])
                return CreateResponse(path)
            case Op.GET_CHILDREN:
                return GetChildrenResponse(self.names)
            case Op.EXISTS:
                return ExistsResponse(STAT)
            case Op.SYNC:
                return SyncResponse("/")
        return None


def test_a_place_is_lost_when_the_session_may_have_expired_and_is_given_up_later() -> None:
    server = LineServer()

    async def story(client: ZooKeeperClient) -> None:
        loop = asyncio.get_running_loop()
        await client.connect()
        with pytest.raises(PlaceLost):
            async with await Lock(client, "/lock", random=Random(1)).acquire() as held:
                server.answer_connect = lambda request: None
                server.hang_up()
                began_at = loop.time()
                await held.until_lost()
                assert 5.9 < loop.time() - began_at < 6.1
                assert client.state is State.SUSPENDED
        server.answer_connect = server.welcome
        await client.until(State.CONNECTED)
        await pass_time(1)
        assert len(server.asked(Op.DELETE)) == 1

    play(story, server)


def test_what_a_server_tells_unasked_does_not_prove_that_it_hears_us() -> None:
    server = LineServer()

    async def chatter() -> None:
        while True:
            server.notify(EventType.DATA_CHANGED, "/elsewhere")
            await pass_time(1)

    async def story(client: ZooKeeperClient) -> None:
        loop = asyncio.get_running_loop()
        await client.connect()
        held = await Lock(client, "/lock", random=Random(1)).acquire()
        server.is_silent = True
        began_at = loop.time()
        chatting = asyncio.create_task(chatter())
        await held.until_lost()
        chatting.cancel()
        assert loop.time() - began_at < 6.1
        assert client.state is State.CONNECTED

    play(story, server)


def test_a_place_is_kept_through_a_short_absence() -> None:
    server = LineServer()

    async def story(client: ZooKeeperClient) -> None:
        await client.connect()
        async with await Lock(client, "/lock", random=Random(1)).acquire() as held:
            server.answer_connect = lambda request: None
            server.hang_up()
            await pass_time(4)
            assert not held.is_lost
            server.answer_connect = server.welcome
            await client.until(State.CONNECTED)
            await pass_time(60)
            assert not held.is_lost

    play(story, server)


def test_when_the_session_expires_the_place_is_lost_at_once() -> None:
    server = LineServer()

    async def story(client: ZooKeeperClient) -> None:
        await client.connect()
        held = await Lock(client, "/lock", random=Random(1)).acquire()
        server.answer_connect = server.expire
        server.hang_up()
        await held.until_lost()
        assert client.state is State.LOST

    play(story, server)
