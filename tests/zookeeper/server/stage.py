"""The stage of the ensemble's stories: whole servers, clients that keep their sessions, and verbs.

Servers are called by their ids, and `leader` is whoever leads then. They tell their story by their
own logs. Clients tell what they hear. What is told of one command is told server by server, then
client by client, for which of two was quicker is no part of a story. Verbs that begin with `expect`
say nothing: they fail if it is otherwise.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

from odradek.runtime.logs import NodeLog
from odradek.simulation.errors import StoryError
from odradek.simulation.hosts import Host
from odradek.simulation.processes import Environment
from odradek.simulation.stage import Stage
from odradek.simulation.world import World
from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.errors import ZooKeeperError
from odradek.zookeeper.client.states import State
from odradek.zookeeper.wire.codes import CreateMode
from tests.zookeeper.server.ensemble import Ensemble

LIMIT_S = 300
MORE = "reconfigEnabled=true\nskipACL=yes"
MEMBER = "server.{0}=zk{0}:2888:3888:{1};2181"

# What of the logs belongs to a story, and how it is told.
TOLD = [
    (re.compile(pattern), text)
    for pattern, text in (
        (r"elects (\d+) at \S+", r"elects \1"),
        (r"serves, leading in epoch (\d+) .*", r"leads epoch \1"),
        (r"serves, (following|observing) in epoch (\d+) .*", r"serves, \1"),
        (r"(serves those who only read.*)", r"\1"),
        (r"(looks for a leader: .*)", r"\1"),
        (r"brings server (\d+) up to date by (.*)", r"brings \1 up to date by \2"),
        (r"goes over to the members of version \S+", r"goes over to the new members"),
        (r"session \S+ expires", r"lets a session expire"),
        (r"session \S+ is connected to zk(\d):2181", r"is connected to \1"),
        (r"session \S+ has expired, says zk(\d):2181", r"hears from \1 that its session is over"),
    )
]


class Teller(logging.Handler):
    """Makes lines of a story from lines of logs."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.synced: list[tuple[str, str]] = []  # Who was brought up to date, and how.
        self.tells_of_syncs = True
        self._world = world

    def emit(self, record: logging.LogRecord) -> None:
        who = getattr(record, "place", "").strip("[] ").removeprefix("zookeeper ")
        for pattern, text in TOLD:
            match = pattern.fullmatch(record.getMessage())
            if match is None:
                continue
            is_sync = text.startswith("brings")
            if is_sync:
                self.synced.append((match[1], match[2].split()[0]))
            if self.tells_of_syncs or not is_sync:
                self._world.narrate(f"{who} {match.expand(text)}")


class Client:
    """A client that keeps its session as long as it can, and does one thing after another."""

    def __init__(self, name: str, servers: str) -> None:
        self.acknowledged: set[str] = set()
        self.heard: list[str] = []
        self.is_idle = False
        self.must_write = False
        self.state = State.CLOSED
        self._name = name
        self._servers = servers
        self._jobs: asyncio.Queue[Job]
        self._loop: asyncio.AbstractEventLoop

    async def main(self, environment: Environment) -> None:
        self._loop, self._jobs = asyncio.get_running_loop(), asyncio.Queue()
        self._narrate = environment.narrate
        client = ZooKeeperClient(
            self._servers,
            random=environment.random,
            session_timeout_ms=8000,
            log=NodeLog(self._name),
        )
        client.listen(self._hear)
        await client.connect(LIMIT_S)
        while True:
            self.is_idle = True
            await self._act(client, await self._jobs.get())

    async def _act(self, client: ZooKeeperClient, job: Job) -> None:
        try:
            answer = await job(client)
        except ZooKeeperError as error:
            answer = type(error).__name__
        if answer:
            self.heard.append(answer)
            self._narrate(f"hears: {answer}")

    def _hear(self, state: State) -> None:
        if state is State.SUSPENDED and self.state.is_connected:
            self._narrate("loses its connection")
        self.state = state

    def do(self, job: Job) -> None:
        self.is_idle = False
        self._loop.call_soon(self._jobs.put_nowait, job)

    # Jobs

    async def create(self, path: str, mode: CreateMode, client: ZooKeeperClient) -> str:
        made = await client.create(path, mode=mode)
        self.acknowledged.add(made)
        return f"{made} is written"

    async def create_many(self, count: int, prefix: str, client: ZooKeeperClient) -> str:
        paths = [f"{prefix}{number}" for number in range(count)]
        self.acknowledged.update(await asyncio.gather(*(client.create(path) for path in paths)))
        return f"{count} znodes are written"

    async def look(self, path: str, client: ZooKeeperClient) -> str:
        await client.sync("/")
        return f"{path} is there" if await client.exists(path) else f"{path} is not there"

    async def write_on(self, client: ZooKeeperClient) -> str:
        """Write one znode after the other, until told to stop, whatever happens."""
        number = 0
        while self.must_write:
            number += 1
            await asyncio.sleep(0.05)
            with suppress(ZooKeeperError):
                self.acknowledged.add(await client.create(f"/{self._name}-{number}"))
        return ""

    async def reconfigure(self, joining: str, leaving: str, client: ZooKeeperClient) -> str:
        config, _ = await client.reconfig(joining=joining, leaving=leaving)
        ids = re.findall(r"server\.(\d+)=[^:]*:\d+:\d+:(\w)", config.decode())
        return f"the members are {', '.join(f'{id_} ({role})' for id_, role in ids)}"


Job = Callable[[ZooKeeperClient], Awaitable[str]]


class EnsembleStage(Stage):
    """The verbs of the ensemble's stories."""

    _ensemble: Ensemble

    def __init__(self, world: World, teller: Teller) -> None:
        super().__init__(world)
        self._clients: dict[str, Client] = {}
        self._teller = teller
        self._told = 0

    # Time

    def wait(self, seconds: float) -> None:
        super().wait(seconds)
        self._end_paragraph()

    def settle(self) -> None:
        super().settle()
        self._end_paragraph()

    def _until(self, condition: Callable[[], object]) -> None:
        self._world.run_until(condition, LIMIT_S)
        self._end_paragraph()

    def _end_paragraph(self) -> None:
        """Put what was told since the last one in order; nobody's own lines change places."""
        told = self._world.narration
        told[self._told :] = sorted(told[self._told :], key=lambda line: line.split()[0])
        self._told = len(told)

    # Servers

    def ensemble(self, voters: int, *, observers: int = 0) -> None:
        """Start servers 1, 2, 3 … for the first time, and wait until all serve."""
        # There is nothing yet to bring to anybody, so it does not matter how that is done.
        self._teller.tells_of_syncs = False
        self._ensemble = Ensemble(self._world, voters, observers, MORE)
        self._ensemble.settle()
        self._teller.tells_of_syncs = True
        self._end_paragraph()

    def join(self, id_: int, role: str = "participant") -> None:
        """Start a server that nobody knows yet. It observes until it is made a member."""
        self._ensemble.start(id_, MEMBER.format(id_, role))
        self._ensemble.ids = range(1, id_ + 1)
        self._until(lambda: self._ensemble.is_serving(id_))

    def cut_leader(self) -> None:
        """Cut the leader off from all other servers; clients still reach it."""
        leader = self._host("leader").name
        for id_ in self._ensemble.ids:
            if f"zk{id_}" != leader:
                self._world.network.cut(leader, f"zk{id_}")
                self._world.network.cut(f"zk{id_}", leader)

    # Clients

    def client(self, name: str, *, at: str = "") -> None:
        """Connect a client to any server, or to one."""
        servers = f"{self._host(at).name}:2181" if at else self._ensemble.connect_string
        client = self._clients[name] = Client(name, servers)
        self._world.host(name).start(client.main)
        self._until(lambda: client.is_idle)

    def write(self, path: str, *, by: str, many: int = 0) -> None:
        """Let a client write a znode, or many, and wait until it hears of it."""
        self.ask(path, by=by, many=many)
        self._until(lambda: self._client(by).is_idle)

    def ask(self, path: str, *, by: str, many: int = 0) -> None:
        """Let a client write, and do not wait."""
        client = self._client(by)
        one = partial(client.create, path, CreateMode.PERSISTENT)
        client.do(partial(client.create_many, many, path) if many else one)

    def own(self, path: str, *, by: str) -> None:
        """Let a client make an ephemeral znode."""
        client = self._client(by)
        self._do(client, partial(client.create, path, CreateMode.EPHEMERAL))

    def look(self, path: str, *, by: str) -> None:
        """Let a client look for a znode, after a sync."""
        client = self._client(by)
        self._do(client, partial(client.look, path))

    def keep_writing(self, name: str) -> None:
        client = self._client(name)
        client.must_write = True
        client.do(client.write_on)

    def stop_writing(self, name: str) -> None:
        client = self._client(name)
        client.must_write = False
        self._until(lambda: client.is_idle)

    def reconfig(self, *, by: str, joining: str = "", leaving: str = "") -> None:
        """Let a client change the members: `joining 4`, `joining 4:observer`, `leaving 1`."""
        client = self._client(by)
        id_, _, role = joining.partition(":")
        line = MEMBER.format(id_, role or "participant") if joining else ""
        self._do(client, partial(client.reconfigure, line, leaving))

    # Expectations

    def expect_leader(self, id_: int) -> None:
        self._require(self._ensemble.leaders() == [id_], f"{self._ensemble.leaders()} lead")

    def expect_serving(self, *ids: int) -> None:
        """These serve clients, and no others; nobody does without any."""
        serving = [id_ for id_ in self._ensemble.ids if self._ensemble.is_serving(id_)]
        self._require(serving == list(ids), f"{serving} serve")

    def expect_synced(self, id_: str, *, by: str) -> None:
        """The last time that a server was brought up to date it was in this way."""
        ways = [way for who, way in self._teller.synced if who == id_]
        self._require(ways[-1:] == [by], f"{id_} was brought up to date by {ways}")

    def expect_voters(self, *ids: int) -> None:
        for id_ in ids:
            voters = self._ensemble.nodes[id_].member.membership.voters
            self._require(voters == set(ids), f"to {id_} the voters are {sorted(voters)}")

    def expect_heard(self, name: str, what: str) -> None:
        """What a client was told last."""
        heard = self._client(name).heard
        self._require(heard[-1:] == [what], f"{name} heard {heard}")

    def expect_everywhere(self, *, by: str, least: int = 1) -> None:
        """All that a client was told to have written is on all servers, which are alike."""
        self._ensemble.settle()
        written = self._client(by).acknowledged
        self._require(len(written) >= least, f"only {len(written)} writes were acknowledged")
        for id_ in self._ensemble.ids:
            lost = [it for it in written if self._ensemble.nodes[id_].clients.tree.get(it) is None]
            self._require(not lost, f"{id_} lacks {lost[:3]}")

    def expect_nowhere(self, path: str) -> None:
        for id_ in self._ensemble.ids:
            found = self._ensemble.nodes[id_].clients.tree.get(path)
            self._require(found is None, f"{path} is on {id_}")

    def _require(self, holds_true: bool, otherwise: str) -> None:
        if not holds_true:
            raise StoryError(otherwise)

    def _do(self, client: Client, job: Job) -> None:
        client.do(job)
        self._until(lambda: client.is_idle)

    def _client(self, name: str) -> Client:
        if name not in self._clients:
            raise StoryError(f"there is no client {name}, but {', '.join(self._clients)}")
        return self._clients[name]

    def _host(self, name: str) -> Host:
        if name == "leader":
            return self._ensemble.host(self._ensemble.leader)
        return super()._host(f"zk{name}" if name.isdigit() else name)
