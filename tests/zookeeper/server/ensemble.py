"""An ensemble of whole servers in a simulated world, and clients that remember what they saw."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from odradek.runtime.disk import Disk
from odradek.simulation.hosts import Host
from odradek.simulation.processes import Environment, Process
from odradek.simulation.world import World
from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.server.member_node import MemberNode
from odradek.zookeeper.settings import load
from odradek.zookeeper.wire.codes import ServerState

TICK_MS = 500
ZOO_CFG = f"""
tickTime={TICK_MS}
initLimit=6
syncLimit=3
dataDir=/data
clientPort=2181
maxClientCnxns=0
preAllocSize=16
admin.enableServer=false
{{members}}
{{more}}
"""
CONFIG_PATH = "/zoo.cfg"


class Ensemble:
    """Servers 1, 2, 3 …, each on a host `zk<id>`; the last ones of them observe."""

    def __init__(
        self,
        world: World,
        voters: int = 3,
        observers: int = 0,
        more: str = "",
        node_type: type[MemberNode] = MemberNode,
    ) -> None:
        self.world = world
        self.ids = range(1, voters + observers + 1)
        self.nodes: dict[int, MemberNode] = {}
        lines = []
        for id_ in self.ids:
            role = "participant" if id_ <= voters else "observer"
            lines.append(f"server.{id_}=zk{id_}:2888:3888:{role}")
        self._members = "\n".join(lines)
        self._more = more
        self._node_type = node_type
        for id_ in self.ids:
            self.start(id_)

    @property
    def connect_string(self) -> str:
        return ",".join(f"zk{id_}:2181" for id_ in self.ids)

    def host(self, id_: int) -> Host:
        return self.world.host(f"zk{id_}")

    def start(self, id_: int, *more_members: str) -> None:
        """Start a server for the first time, perhaps one that knows of others."""
        lines = "\n".join([self._members, *more_members])

        async def serve(environment: Environment) -> None:
            disk = environment.disk
            if not disk.exists(CONFIG_PATH):
                disk.make_directories("/data")
                put(disk, "/data/myid", str(id_))
                put(disk, CONFIG_PATH, ZOO_CFG.format(members=lines, more=self._more))
            settings = load(disk, CONFIG_PATH)
            node = self._node_type(settings, disk, environment.random, CONFIG_PATH)
            self.nodes.pop(id_, None)
            await node.start()
            self.nodes[id_] = node
            await node.tasks.until_stopped()

        self.host(id_).start(serve)

    def restart(self, id_: int) -> None:
        self.host(id_).start_again()

    # Questions

    def is_serving(self, id_: int) -> bool:
        node = self.nodes.get(id_)
        if node is None or not self.host(id_).is_running:
            return False
        return node.clients.is_serving and not node.clients.is_read_only

    def leaders(self) -> list[int]:
        return [
            id_
            for id_ in self.ids
            if self.is_serving(id_) and self.nodes[id_].replica.state is ServerState.LEADING
        ]

    @property
    def leader(self) -> int:
        """The leader that all others should follow in the end."""
        return max(self.leaders(), key=lambda id_: self.nodes[id_].peer.history.current_epoch)

    def until_another_leads(self, old: int) -> None:
        self.world.run_until(lambda: self.leaders() and old not in self.leaders(), limit_s=300)

    def settle(self) -> None:
        """Let all serve, and have the same tree."""
        self.world.run_until(self._is_even, limit_s=300)

    def _is_even(self) -> bool:
        if len(self.leaders()) != 1 or not all(map(self.is_serving, self.ids)):
            return False
        trees = [self.nodes[id_].clients.tree for id_ in self.ids]
        return len({(tree.last_zxid, tree.digest) for tree in trees}) == 1

    # Clients

    def run(self, name: str, story: Story, servers: str = "") -> Process:
        """Let a client do something, on a host of its own."""

        async def main(environment: Environment) -> object:
            client = ZooKeeperClient(
                servers or self.connect_string, random=environment.random, session_timeout_ms=8000
            )
            async with client:
                return await story(client)

        return self.world.host(name).start(main)

    def do(self, story: Story, servers: str = "") -> object:
        """The same, and wait until it is done."""
        name = f"client {len(self.world.hosts)}"
        return self.world.run_to_end(self.run(name, story, servers), limit_s=300)


def put(disk: Disk, path: str, text: str) -> None:
    with disk.open(path, create=True) as file:
        file.write(0, text.encode())
        file.sync()
    disk.sync_directory(path.rpartition("/")[0] or "/")


Story = Callable[[ZooKeeperClient], Awaitable[object]]


def write(count: int, prefix: str = "/") -> Story:
    """Create so many znodes, in a pipeline."""

    async def story(client: ZooKeeperClient) -> object:
        return await asyncio.gather(*(client.create(f"{prefix}{n}") for n in range(count)))

    return story


def read_names() -> Story:
    """The names below the root, after a sync."""

    async def story(client: ZooKeeperClient) -> object:
        await client.sync("/")
        return sorted(set(await client.get_children("/")) - {"zookeeper"})

    return story
