"""A server that loses its power, or is killed, at any moment: what it answered is there.

One client sends writes in a pipeline, so a server may hold any number of them: all that it
answered, perhaps more, and always the first so many, each whole. After each crash the tree is
compared with what it must be after that number of writes.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from random import Random
from typing import Literal

import pytest

from odradek.runtime.properties import Properties
from odradek.runtime.tasks import TaskDied
from odradek.simulation.hosts import Host
from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.errors import ZooKeeperError
from odradek.zookeeper.client.states import State
from odradek.zookeeper.server.node import ZooKeeperNode
from odradek.zookeeper.settings import ZooKeeperSettings
from odradek.zookeeper.wire.codes import CreateMode
from tests.zookeeper.server.writes import Write, draw_writes, states_after

ZOO_CFG = b"""
tickTime=500
dataDir=/data
clientPort=2181
snapCount=40
preAllocSize=16
admin.enableServer=false
"""
SEEDS = int(os.environ.get("SEEDS", "6"))
LIVES = 4
WRITES = 60


async def serve(environment: Environment, nodes: list[ZooKeeperNode] | None = None) -> None:
    settings = ZooKeeperSettings(Properties.parse(ZOO_CFG, "zoo.cfg"))
    node = ZooKeeperNode(settings, environment.disk, environment.random)
    if nodes is not None:
        nodes.append(node)
    await node.start()
    await node.tasks.until_stopped()


class Writer:
    """Writes until its server is gone, and remembers what was answered."""

    def __init__(self, writes: list[Write]) -> None:
        self.writes = writes
        self.answered = 0
        self.session_id = 0

    async def run(self, environment: Environment) -> None:
        client = ZooKeeperClient("server", random=environment.random, session_timeout_ms=4000)
        await client.connect()
        self.session_id = client.session_id
        futures = [write.send(client) for write in self.writes]
        for future in futures:
            try:
                await future
            except ZooKeeperError:
                break
            self.answered += 1
        for future in futures:
            with suppress(ZooKeeperError):
                await future


class Reader:
    """Reads the whole tree, and waits for the ephemerals of the writer to go."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[bytes, int]] = {}

    async def run(self, environment: Environment) -> None:
        client = ZooKeeperClient("server", random=environment.random)
        await client.connect()
        for name in await client.get_children("/"):
            if name != "zookeeper":
                data, stat = await client.get_data(f"/{name}")
                assert data is not None
                self.found[f"/{name}"] = (data, stat.version)
        await client.close()


def crash(server: Host, random: Random) -> None:
    """Half of all crashes are a loss of power, which takes with it what was not synced."""
    if random.random() < 0.5:
        server.power_off()
    else:
        server.kill()


def read_all(world: World, name: str) -> dict[str, tuple[bytes, int]]:
    reader = Reader()
    world.run_to_end(world.host(name).start(reader.run))
    return reader.found


def live_once(world: World, server: Host, writer: Writer, random: Random) -> None:
    """Let the writer write until the server crashes, then start the server again."""
    writing = world.host(f"writer of {len(world.hosts)}").start(writer.run)
    world.run_until(lambda: writer.session_id != 0)
    world.after(random.uniform(0, 0.1), lambda: crash(server, random))
    world.run_until(lambda: writing.is_dead and not server.is_running)
    server.start(serve)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_crash_loses_no_answered_write_and_halves_none(
    seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    with World(seed) as world:
        random = world.stream("crashes")
        server = world.host("server")
        server.start(serve)
        expected: dict[str, tuple[bytes, int]] = {}
        for life in range(LIVES):
            writer = Writer(draw_writes(random, expected, WRITES, life))
            live_once(world, server, writer, random)
            found = read_all(world, f"reader {life}")
            possible = states_after(expected, writer.writes)
            assert found in possible[writer.answered :], f"answered {writer.answered}"
            expected = found
    assert "has digest" not in caplog.text


class Owner:
    """Owns an ephemeral znode, and says how its session fares."""

    def __init__(self) -> None:
        self.client: ZooKeeperClient | None = None
        self.states: list[State] = []

    async def run(self, environment: Environment) -> None:
        client = ZooKeeperClient("server", random=environment.random, session_timeout_ms=8000)
        client.listen(self.states.append)
        await client.connect()
        await client.create("/mine", b"", mode=CreateMode.EPHEMERAL)
        self.client = client
        await asyncio.Event().wait()


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_session_outlives_a_crash_and_its_ephemerals_with_it(seed: int) -> None:
    owner = Owner()
    with World(seed) as world:
        server = world.host("server")
        server.start(serve)
        world.host("owner").start(owner.run)
        world.run_until(lambda: owner.client)
        crash(server, world.stream("crashes"))
        world.run_for(2)
        server.start(serve)
        world.run_for(20)
        assert "/mine" in read_all(world, "reader")
        assert State.LOST not in owner.states
        # Its session is all that keeps the znode: with the owner gone for good, it goes too.
        world.host("owner").power_off()
        crash(server, world.stream("crashes"))
        server.start(serve)
        world.run_for(20)
        assert "/mine" not in read_all(world, "another reader")


@pytest.mark.parametrize("after_s", [0.0, 0.137, 0.4])
def test_a_session_ends_with_its_tick_whenever_the_server_was_started(after_s: float) -> None:
    owner, nodes = Owner(), list[ZooKeeperNode]()
    with World(seed=3) as world:

        async def serve_late(environment: Environment) -> None:
            await asyncio.sleep(after_s)
            await serve(environment, nodes)

        world.host("server").start(serve_late)
        world.host("owner").start(owner.run)
        world.run_until(lambda: owner.client)
        world.host("owner").power_off()
        clients = nodes[0].clients
        (session,) = clients.sessions.by_id.values()
        world.run_until(lambda: "/mine" not in clients.tree.nodes, limit_s=20)
        assert 0 <= clients.now_ms() - session.expires_ms < 20


class Busy:
    """Writes and reads without end, each after the other, and counts."""

    def __init__(self) -> None:
        self.written = 0
        self.read = 0

    async def run(self, environment: Environment) -> None:
        client = ZooKeeperClient("server", random=environment.random, session_timeout_ms=8000)
        await client.connect()
        await asyncio.gather(self._write(client), self._read(environment))

    async def _write(self, client: ZooKeeperClient) -> None:
        while True:
            await client.create(f"/{self.written}", bytes(1000))
            self.written += 1
            await asyncio.sleep(0.01)

    async def _read(self, environment: Environment) -> None:
        """On a session of its own: what waits behind a write of the same one sees it done."""
        client = ZooKeeperClient("server", random=environment.random)
        await client.connect()
        while True:
            await client.exists("/")
            self.read += 1
            await asyncio.sleep(0.01)


def test_a_full_disk_holds_up_writes_but_not_reads_until_there_is_room() -> None:
    busy = Busy()
    with World(seed=1) as world:
        server = world.host("server")
        server.start(serve)
        world.host("client").start(busy.run)
        world.run_until(lambda: busy.written > 10)
        server.storage.device.fill()
        world.run_for(2)
        written, read = busy.written, busy.read
        world.run_for(2)
        assert busy.written == written
        assert busy.read > read + 50
        server.storage.device.repair()
        world.run_until(lambda: busy.written > written + 100)
        server.power_off()
        server.start(serve)
        world.host("client").kill()
        assert len(read_all(world, "reader")) >= busy.written


@pytest.mark.parametrize("operation", ["sync", "write"])
def test_a_broken_disk_ends_the_server_and_nothing_answered_is_lost(
    operation: Literal["sync", "write"],
) -> None:
    busy = Busy()
    with World(seed=2) as world:
        server = world.host("server")
        process = server.start(serve, may_die_of=(TaskDied,))
        world.host("client").start(busy.run)
        world.run_until(lambda: busy.written > 10)
        server.storage.device.fail(operation, under="/data")
        world.run_until(lambda: process.is_dead)
        world.host("client").kill()
        server.start(serve)
        assert len(read_all(world, "reader")) >= busy.written
