"""Sessions belong to the ensemble: clients move between its servers and keep what they have."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.errors import ConnectionLoss
from odradek.zookeeper.client.states import State
from odradek.zookeeper.client.watches import WatchEvent
from odradek.zookeeper.state.sessions import password_of
from odradek.zookeeper.wire.codes import CreateMode, Op
from odradek.zookeeper.wire.connection import ClientConnection
from odradek.zookeeper.wire.messages.requests import SetDataRequest
from odradek.zookeeper.wire.messages.session import ConnectRequest, ConnectResponse
from odradek.zookeeper.wire.replies import Reply
from tests.zookeeper.server.ensemble import Ensemble, read_names

NO_PASSWORD = bytes(16)


@pytest.fixture
def ensemble() -> Iterator[Ensemble]:
    with World(seed=4) as world:
        it = Ensemble(world)
        it.settle()
        yield it


class Owner:
    """Has an ephemeral znode and a watch, and tells what happens to it."""

    def __init__(self, servers: str) -> None:
        self.states: list[State] = []
        self.heard: list[WatchEvent] = []
        self.session_id = 0
        self.is_ready = False
        self._servers = servers

    async def run(self, environment: Environment) -> None:
        client = ZooKeeperClient(self._servers, random=environment.random, session_timeout_ms=6000)
        client.listen(self.states.append)
        await client.connect()
        self.session_id = client.session_id
        await client.create("/mine", b"", mode=CreateMode.EPHEMERAL)
        await client.exists("/awaited", watch=self.heard.append)
        self.is_ready = True
        await asyncio.Event().wait()


def server_of(ensemble: Ensemble, session_id: int) -> int:
    """Where a session is connected."""
    return next(
        id_
        for id_ in ensemble.ids
        if ensemble.is_serving(id_) and session_id in ensemble.nodes[id_].clients.by_session
    )


def start(ensemble: Ensemble) -> Owner:
    owner = Owner(ensemble.connect_string)
    ensemble.world.host("owner").start(owner.run)
    ensemble.world.run_until(lambda: owner.is_ready)
    return owner


async def create_awaited(client: ZooKeeperClient) -> None:
    await client.create("/awaited")


def test_a_client_whose_server_dies_keeps_session_watches_and_ephemerals(
    ensemble: Ensemble,
) -> None:
    owner = start(ensemble)
    for _ in range(3):
        victim = server_of(ensemble, owner.session_id)
        ensemble.host(victim).kill()
        ensemble.world.run_for(15)
        ensemble.restart(victim)
        ensemble.settle()
    assert State.LOST not in owner.states
    assert ensemble.do(read_names()) == ["mine"]
    ensemble.do(create_awaited)
    ensemble.world.run_until(lambda: owner.heard, limit_s=20)
    assert [it.path for it in owner.heard] == ["/awaited"]


def test_when_a_client_is_gone_its_session_ends_everywhere_and_its_ephemerals_with_it(
    ensemble: Ensemble,
) -> None:
    owner = start(ensemble)
    ensemble.world.host("owner").power_off()
    ensemble.world.run_for(3)
    assert ensemble.do(read_names()) == ["mine"]
    ensemble.world.run_for(10)
    ensemble.settle()
    for id_ in ensemble.ids:
        assert owner.session_id not in ensemble.nodes[id_].clients.sessions.by_id
        assert owner.session_id not in ensemble.nodes[id_].replica.timeouts
        assert ensemble.nodes[id_].clients.tree.get("/mine") is None


def test_a_new_leader_gives_each_session_its_full_time(ensemble: Ensemble) -> None:
    owner = start(ensemble)
    ensemble.world.host("owner").power_off()
    ensemble.world.run_for(4)
    old = ensemble.leader
    ensemble.host(old).kill()
    ensemble.until_another_leads(old)
    ensemble.world.run_for(4)
    leader = ensemble.nodes[ensemble.leader]
    assert owner.session_id in leader.clients.sessions.by_id
    ensemble.world.run_for(6)
    assert owner.session_id not in leader.clients.sessions.by_id


def test_session_ids_begin_with_the_id_of_their_server(ensemble: Ensemble) -> None:
    async def session_id(client: ZooKeeperClient) -> int:
        return client.session_id

    for id_ in ensemble.ids:
        found = ensemble.do(session_id, servers=f"zk{id_}:2181")
        assert isinstance(found, int)
        assert found >> 56 == id_


def test_reads_and_syncs_are_answered_in_turn_with_the_writes_of_a_learners_client(
    ensemble: Ensemble,
) -> None:
    async def story(client: ZooKeeperClient) -> object:
        asked: list[asyncio.Future[Any]] = []
        for number in range(20):
            asked.append(client.create(f"/{number}"))
            asked.append(client.exists(f"/{number}"))
            asked.append(client.exists(f"/{number + 1}"))
            asked.append(client.sync("/"))
        return await asyncio.gather(*asked)

    follower = next(id_ for id_ in ensemble.ids if id_ != ensemble.leader)
    answers = ensemble.do(story, servers=f"zk{follower}:2181")
    assert isinstance(answers, list)
    for number in range(20):
        created, seen, unseen, _ = answers[4 * number : 4 * number + 4]
        assert (created, unseen) == (f"/{number}", None)
        assert seen is not None


def test_a_client_that_fails_over_in_mid_request_can_find_out_what_became_of_it(
    ensemble: Ensemble,
) -> None:
    outcomes: list[str] = []

    async def story(client: ZooKeeperClient) -> None:
        for number in range(300):
            try:
                await client.create(f"/{number:03}")
                outcomes.append("done")
            except ConnectionLoss:
                await client.until(State.CONNECTED)
                is_there = await client.exists(f"/{number:03}") is not None
                outcomes.append("done unheard" if is_there else "not done")
                if not is_there:
                    await client.create(f"/{number:03}")

    process = ensemble.run("client", story)
    world = ensemble.world
    for _ in range(2):
        count = len(outcomes)
        world.run_until(lambda wanted=count + 40: len(outcomes) > wanted)  # type: ignore[misc]
        leader = ensemble.leader
        ensemble.host(leader).kill()
        ensemble.until_another_leads(leader)
        ensemble.restart(leader)
    world.run_to_end(process)
    ensemble.settle()
    assert ensemble.do(read_names()) == [f"{number:03}" for number in range(300)]
    assert outcomes.count("done") < 300


class RawSession:
    """A session by hand, which can be on two servers at once."""

    def __init__(self) -> None:
        self.first_answer: ConnectResponse | None = None
        self.old_end: bytes | None = None
        self.new_answer: Reply | None = None

    async def run(self, environment: Environment) -> None:
        old_wire, new_wire = ClientConnection(), ClientConnection(next_xid=5)
        old_reader, old_writer = await asyncio.open_connection("zk1", 2181)
        old_writer.write(old_wire.connect(ConnectRequest(0, 0, 6000, 0, NO_PASSWORD, False)))
        (first,) = old_wire.feed(await old_reader.read(100))
        assert isinstance(first, ConnectResponse)
        again = ConnectRequest(0, 0, 6000, first.session_id, first.passwd, False)
        new_reader, new_writer = await asyncio.open_connection("zk2", 2181)
        new_writer.write(new_wire.connect(again))
        (self.first_answer,) = new_wire.feed(await new_reader.read(100))  # type: ignore[assignment]
        old_writer.write(old_wire.request(Op.SET_DATA, SetDataRequest("/", b"old", -1))[1])
        self.old_end = await old_reader.read()
        new_writer.write(new_wire.request(Op.SET_DATA, SetDataRequest("/", b"new", -1))[1])
        (answer,) = new_wire.feed(await new_reader.read(1000))
        assert isinstance(answer, Reply)
        self.new_answer = answer
        old_writer.close()
        new_writer.close()


def test_a_request_that_comes_the_old_way_after_the_session_moved_is_not_done(
    ensemble: Ensemble,
) -> None:
    session = RawSession()
    ensemble.world.run_to_end(ensemble.world.host("raw").start(session.run))
    assert session.first_answer is not None
    assert session.first_answer.session_id != 0
    assert session.old_end == b""
    assert session.new_answer is not None
    assert session.new_answer.err == 0
    ensemble.settle()
    root = ensemble.nodes[1].clients.tree.nodes["/"]
    assert (root.data, root.version) == (b"new", 1)


@pytest.mark.parametrize("id_", [1, 3])
def test_a_session_that_nobody_knows_is_refused_by_leader_and_learner(
    ensemble: Ensemble, id_: int
) -> None:
    answers: list[ConnectResponse] = []

    async def main(environment: Environment) -> None:
        wire = ClientConnection()
        reader, writer = await asyncio.open_connection(f"zk{id_}", 2181)
        asked = ConnectRequest(0, 0, 6000, 0x77, password_of(0x77), False)
        writer.write(wire.connect(asked))
        (answer,) = wire.feed(await reader.read(100))
        assert isinstance(answer, ConnectResponse)
        answers.append(answer)
        assert await reader.read() == b""
        writer.close()

    ensemble.world.run_to_end(ensemble.world.host("stranger").start(main))
    assert (answers[0].session_id, answers[0].time_out) == (0, 0)
