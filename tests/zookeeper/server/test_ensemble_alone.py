"""What a member does by itself: sessions that only it knows, and reads without a leader."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.errors import EphemeralOnLocalSession, NotReadOnly
from odradek.zookeeper.client.states import State
from odradek.zookeeper.wire.codes import CreateMode
from tests.zookeeper.server.ensemble import Ensemble, read_names, write


def ensemble_with(*lines: str) -> Iterator[Ensemble]:
    with World(seed=8) as world:
        it = Ensemble(world, more="\n".join(lines))
        it.settle()
        yield it


@pytest.fixture
def local() -> Iterator[Ensemble]:
    yield from ensemble_with("localSessionsEnabled=true")


@pytest.fixture
def upgrading() -> Iterator[Ensemble]:
    yield from ensemble_with("localSessionsEnabled=true", "localSessionsUpgradingEnabled=true")


@pytest.fixture
def readable() -> Iterator[Ensemble]:
    yield from ensemble_with("readonlymode.enabled=true", "4lw.commands.whitelist=*")


def known_to(ensemble: Ensemble, session_id: int) -> list[int]:
    """The servers that have this session among those of the ensemble."""
    nodes = ensemble.nodes.items()
    return [id_ for id_, node in nodes if session_id in node.replica.timeouts]


@pytest.mark.parametrize("id_", [1, 3])
def test_a_local_session_reads_and_writes_but_owns_nothing(local: Ensemble, id_: int) -> None:
    async def story(client: ZooKeeperClient) -> None:
        await client.create("/a")
        await client.set_data("/a", b"1")
        with pytest.raises(EphemeralOnLocalSession):
            await client.create("/mine", mode=CreateMode.EPHEMERAL)
        assert await client.exists("/mine") is None
        assert known_to(local, client.session_id) == []
        assert client.session_id in local.nodes[id_].clients.local.by_id

    local.do(story, servers=f"zk{id_}:2181")
    local.settle()
    assert not local.nodes[id_].clients.local.by_id  # It was closed, and nobody else was asked.
    assert local.nodes[id_].clients.tree.last_zxid & 0xFFFFFFFF == 3


@pytest.mark.parametrize("id_", [1, 3])
def test_a_session_that_makes_an_ephemeral_becomes_one_of_the_ensemble(
    upgrading: Ensemble, id_: int
) -> None:
    async def story(client: ZooKeeperClient) -> None:
        await client.create("/a")
        assert known_to(upgrading, client.session_id) == []
        transaction = client.transaction()
        transaction.create("/b")
        transaction.create("/mine", mode=CreateMode.EPHEMERAL)
        await transaction.commit()
        found = await client.exists("/mine")
        assert found is not None
        assert found.ephemeral_owner == client.session_id
        assert id_ in known_to(upgrading, client.session_id)
        assert not upgrading.nodes[id_].clients.local.by_id

    upgrading.do(story, servers=f"zk{id_}:2181")
    upgrading.settle()
    assert upgrading.do(read_names()) == ["a", "b"]


def test_a_local_session_ends_when_its_client_is_silent(local: Ensemble) -> None:
    client = local.run("client", lambda client: asyncio.Event().wait(), servers="zk1:2181")
    local.world.run_until(lambda: local.nodes[1].clients.local.by_id)
    local.world.host("client").power_off()
    assert client.is_dead
    local.world.run_until(lambda: not local.nodes[1].clients.local.by_id, limit_s=20)


class Reader:
    """A client that is content to read."""

    def __init__(self, servers: str, *, can_be_read_only: bool = True) -> None:
        self.states: list[State] = []
        self.names: list[str] = []
        self.refused = False
        self._servers = servers
        self._can_be_read_only = can_be_read_only

    async def run(self, environment: Environment) -> None:
        client = ZooKeeperClient(
            self._servers,
            random=environment.random,
            session_timeout_ms=6000,
            can_be_read_only=self._can_be_read_only,
        )
        client.listen(self.states.append)
        await client.connect()
        self.names = await client.get_children("/")
        try:
            await client.create("/new")
        except NotReadOnly:
            self.refused = True
        await client.close()


def test_without_a_leader_those_who_only_read_are_served(readable: Ensemble) -> None:
    readable.do(write(3))
    for id_ in (2, 3):
        readable.host(id_).kill()
    reader = Reader("zk1:2181")
    writer = Reader("zk1:2181", can_be_read_only=False)
    world = readable.world
    world.run_until(lambda: not readable.is_serving(1))
    reading = world.host("reader").start(reader.run)
    world.host("writer").start(writer.run)
    world.run_to_end(reading, limit_s=60)
    assert {"0", "1", "2"} <= set(reader.names)
    assert reader.refused
    assert State.CONNECTED_READ_ONLY in reader.states
    assert not writer.names
    assert readable.nodes[1].clients.is_read_only
    for id_ in (2, 3):
        readable.restart(id_)
    readable.settle()
    assert not readable.nodes[1].clients.is_read_only
    world.run_until(lambda: writer.names, limit_s=60)
    assert not writer.refused
