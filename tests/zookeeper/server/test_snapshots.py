"""Snapshots of a server at work: taken over from the last one, or made anew where that is bad."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from odradek.runtime.properties import Properties
from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.server.node import ZooKeeperNode
from odradek.zookeeper.settings import ZooKeeperSettings
from odradek.zookeeper.state.tree import Tree
from odradek.zookeeper.storage.names import snapshot_files
from odradek.zookeeper.storage.snapshot_reader import read_snapshot
from tests.zookeeper.storage.histories import portrait

ZOO_CFG = b"tickTime=500\ndataDir=/data\nclientPort=2181\nadmin.enableServer=false\n"
SNAPSHOTS = "/data/version-2"

Story = Callable[[ZooKeeperNode, ZooKeeperClient, Environment], Awaitable[None]]


def play(story: Story) -> None:
    """Let a story happen to a server and a client, which live in one process."""

    async def run(environment: Environment) -> None:
        settings = ZooKeeperSettings(Properties.parse(ZOO_CFG, "zoo.cfg"))
        node = ZooKeeperNode(settings, environment.disk, environment.random)
        await node.start()
        client = ZooKeeperClient("server", random=environment.random)
        await client.connect()
        await story(node, client, environment)
        await client.close()
        await node.stop()

    with World(seed=1) as world:
        world.run_to_end(world.host("server").start(run))


def newest(environment: Environment) -> Tree:
    return read_snapshot(environment.disk, snapshot_files(environment.disk, SNAPSHOTS)[-1]).tree


def test_what_did_not_change_is_in_every_snapshot() -> None:
    async def story(node: ZooKeeperNode, client: ZooKeeperClient, environment: Environment) -> None:
        for number in range(3):
            await client.create(f"/{number}", b"data")
            assert await node.snapshots.take() is not None
            assert portrait(newest(environment)) == portrait(node.clients.tree)
        kept = [sheet.kept for sheet in node.clients.tree.sheets.all if sheet.paths]
        assert len(kept) == 4  # The first is that of the fresh tree.
        assert None not in kept

    play(story)


def test_a_damaged_snapshot_is_told_of_and_the_next_one_is_whole() -> None:
    async def story(node: ZooKeeperNode, client: ZooKeeperClient, environment: Environment) -> None:
        await client.create("/a", b"precious")
        path = await node.snapshots.take()
        assert path is not None
        with environment.disk.open(path) as file:
            at = file.pread(0, file.size()).index(b"precious")
            file.write(at, b"pretious")
        await client.create("/b", b"")
        await client.delete("/b")
        await client.sync("/")
        assert await node.snapshots.take() is not None
        assert newest(environment).nodes["/a"].data == b"precious"
        assert node.snapshots.failed_count == 0

    play(story)
