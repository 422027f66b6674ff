"""Clients of an ensemble that write, read and watch under faults, and say what must then hold.

nothing is lost       what was acknowledged is there in the end
one history           a version of the register was written once, and all read the same at it
linearizable writes   who writes after another was acknowledged comes behind it, by zxid and number
FIFO                  a client's zxids and the versions that it reads never go back, wherever its
                      session is; it reads what it wrote; its writes are done in its order
watches               who hears of a change reads at least that change
ephemerals            those of a living session are there; those of a dead one are not
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from random import Random

from odradek.simulation.processes import Environment
from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.errors import BadVersion, NodeExists, ZooKeeperError
from odradek.zookeeper.client.states import State
from odradek.zookeeper.wire.codes import CreateMode

REGISTER = "/register"
ROOM = "/room"
SESSION_TIMEOUT_MS = 6000


@dataclass(slots=True)
class History:
    """What all clients together were told."""

    created: set[str] = field(default_factory=set)  # Acknowledged.
    attempted: set[str] = field(default_factory=set)
    values: dict[int, bytes] = field(default_factory=dict)  # Of the register, by version.
    writers: dict[int, str] = field(default_factory=dict)  # Who was told to have written it.
    numbers: set[int] = field(default_factory=set)  # Of sequential names, each once.
    number_max: int = -1
    asked: dict[str, int] = field(default_factory=dict)  # When a path was to be created,
    acked: dict[str, int] = field(default_factory=dict)  # and when this was acknowledged.
    writes: list[tuple[int, int, int]] = field(default_factory=list)  # Zxid, asked, acked.
    _moment: int = 0

    def moment(self) -> int:
        """A number for now, greater than all before."""
        self._moment += 1
        return self._moment

    def ask(self, *paths: str) -> None:
        """A client is about to create these."""
        self.attempted.update(paths)
        self.asked.update(dict.fromkeys(paths, self.moment()))

    def ack(self, *paths: str) -> None:
        """A client was told that it did."""
        self.created.update(paths)
        self.acked.update(dict.fromkeys(paths, self.moment()))

    def saw(self, version: int, value: bytes) -> None:
        known = self.values.setdefault(version, value)
        assert known == value, f"version {version} is {known!r} to one and {value!r} to another"

    def wrote(self, version: int, value: bytes, who: str) -> None:
        other = self.writers.setdefault(version, who)
        assert other == who, f"{who} and {other} both wrote version {version}"
        self.saw(version, value)


class Witness:
    """One client, which goes on whatever happens until it is told to stop."""

    def __init__(self, name: str, servers: str, history: History) -> None:
        self.name = name
        self.done = 0
        self.must_stop = False
        self._servers = servers
        self._history = history
        self._number = 0
        self._version = -1
        self._zxid = 0
        self._session_id = 0
        self._mine: set[str] = set()  # Ephemerals that this session was told to have.

    async def run(self, environment: Environment) -> None:
        random = environment.random
        client = ZooKeeperClient(
            self._servers, random=random, session_timeout_ms=SESSION_TIMEOUT_MS
        )
        while not self.must_stop:
            try:
                if client.state in (State.CLOSED, State.LOST):
                    await client.connect()
                    self._new_session(client)
                await self._act(client, random)
                self.done += 1
            except ZooKeeperError:
                await asyncio.sleep(0.2)
            self._check_order(client)
            await asyncio.sleep(random.uniform(0, 0.15))
        await client.close()

    def _new_session(self, client: ZooKeeperClient) -> None:
        self._session_id = client.session_id
        self._mine.clear()
        self._version, self._zxid = -1, 0  # Order is promised to a session.

    def _check_order(self, client: ZooKeeperClient) -> None:
        if client.session_id == self._session_id:
            assert client.last_zxid >= self._zxid, "a client's zxid went back"
            self._zxid = client.last_zxid

    async def _act(self, client: ZooKeeperClient, random: Random) -> None:
        actions = [
            self._create,
            self._set,
            self._get,
            self._watch,
            self._own,
            self._count,
            self._pair,
        ]
        await random.choice(actions)(client)

    async def _create(self, client: ZooKeeperClient) -> None:
        """Several in a pipeline, then a read behind them that must see the last."""
        paths = []
        for _ in range(3):
            self._number += 1
            paths.append(f"{ROOM}/{self.name}-{self._number}")
        self._history.ask(*paths)
        creating = [client.create(path) for path in paths]
        seeing = client.exists(paths[-1])
        results = await asyncio.gather(*creating, seeing, return_exceptions=True)
        acked = [path for path, it in zip(paths, results, strict=False) if isinstance(it, str)]
        self._history.ack(*acked)
        if not isinstance(results[-1], BaseException) and len(acked) == len(paths):
            assert results[-1] is not None, "a client does not see its own write"
        if failure := next((it for it in results if isinstance(it, BaseException)), None):
            raise failure

    async def _set(self, client: ZooKeeperClient) -> None:
        _, stat = await client.get_data(REGISTER)
        value = f"{self.name} {self._number}".encode()
        self._number += 1
        asked = self._history.moment()
        try:
            stat = await client.set_data(REGISTER, value, stat.version)
        except BadVersion:
            return
        self._history.writes.append((stat.mzxid, asked, self._history.moment()))
        self._history.wrote(stat.version, value, f"{self.name} {self._number}")
        self._read(stat.version, value)

    async def _get(self, client: ZooKeeperClient) -> None:
        value, stat = await client.get_data(REGISTER)
        self._read(stat.version, value)

    def _read(self, version: int, value: bytes) -> None:
        self._history.saw(version, value)
        assert version >= self._version, "a client's reads go back"
        self._version = version

    async def _watch(self, client: ZooKeeperClient) -> None:
        """Whoever hears of a change reads at least that one."""
        heard = asyncio.Event()
        value, stat = await client.get_data(REGISTER, watch=lambda event: heard.set())
        self._read(stat.version, value)
        try:
            async with asyncio.timeout(2):
                await heard.wait()
        except TimeoutError:
            return
        if client.session_id == self._session_id and client.state is State.CONNECTED:
            value, later = await client.get_data(REGISTER)
            self._read(later.version, value)
            is_new = later.version > stat.version
            assert is_new or client.session_id != self._session_id, "heard of what did not happen"

    async def _own(self, client: ZooKeeperClient) -> None:
        """Ephemerals are there as long as the session is."""
        session_id = client.session_id
        path = f"/mine-{self.name}-{len(self._mine) % 4}"
        if path in self._mine:
            found = await client.exists(path)
            if client.session_id == session_id == self._session_id:
                assert found is not None, "an ephemeral is gone before its session"
                assert found.ephemeral_owner == session_id
                self._mine.discard(path)
                await client.delete(path)
            return
        try:
            await client.create(path, mode=CreateMode.EPHEMERAL)
        except NodeExists:
            return  # Of an earlier session, or our own whose answer was lost.
        if client.session_id == session_id == self._session_id:
            self._mine.add(path)

    async def _count(self, client: ZooKeeperClient) -> None:
        """A sequential number is given once, and is greater than any that was given before."""
        history = self._history
        largest, asked = history.number_max, history.moment()
        path = await client.create(f"{ROOM}/n-", mode=CreateMode.PERSISTENT_SEQUENTIAL)
        number = int(path[-10:])
        assert number not in history.numbers, f"{path} was given twice"
        assert number > largest, f"{path} was given after {largest}"
        history.numbers.add(number)
        history.number_max = max(history.number_max, number)
        history.attempted.add(path)
        history.ack(path)
        history.asked[path] = asked

    async def _pair(self, client: ZooKeeperClient) -> None:
        """A multi is done as a whole or not at all; a sync sees it."""
        self._number += 1
        one, other = (f"{ROOM}/{self.name}-{self._number}-{side}" for side in "ab")
        self._history.ask(one, other)
        transaction = client.transaction()
        transaction.create(one)
        transaction.create(other)
        await transaction.commit()
        self._history.ack(one, other)
        await client.sync("/")
        assert await client.exists(other) is not None


async def prepare(client: ZooKeeperClient) -> None:
    await client.create(REGISTER, b"")
    await client.create(ROOM)


async def judge(client: ZooKeeperClient, history: History) -> None:
    """What is there in the end, when all faults are over and all witnesses are gone."""
    await client.sync("/")
    found = {f"{ROOM}/{name}" for name in await client.get_children(ROOM)}
    assert not history.created - found, f"lost: {sorted(history.created - found)[:5]}"
    strangers = {path for path in found - history.attempted if "/n-" not in path}
    assert not strangers, f"never asked for: {sorted(strangers)[:5]}"
    pairs = {path[:-2] for path in found if path.endswith(("-a", "-b"))}
    halves = {pair for pair in pairs if not {f"{pair}-a", f"{pair}-b"} <= found}
    assert not halves, f"half done: {halves}"
    value, stat = await client.get_data(REGISTER)
    history.saw(stat.version, value)
    left = [name for name in await client.get_children("/") if name.startswith("mine-")]
    assert not left, f"ephemerals of sessions that are over: {left}"
    stats = await asyncio.gather(*(client.exists(path) for path in sorted(found)))
    zxids = {path: it.czxid for path, it in zip(sorted(found), stats, strict=True) if it}
    check_order(history, zxids)


def check_order(history: History, zxids: dict[str, int]) -> None:
    """No write comes before one that was acknowledged when it was asked for."""
    writes = list(history.writes)
    for path, acked in history.acked.items():
        writes.append((zxids[path], history.asked[path], acked))
    latest = 0  # When the newest of those with smaller zxids was asked for.
    for zxid, asked, acked in sorted(writes):
        assert acked >= latest, f"{zxid:#x} was acknowledged before smaller ones were asked for"
        latest = max(latest, asked)
    for name in {path.rpartition("/")[2].partition("-")[0] for path in zxids} - {"n"}:
        own = sorted((number_of(it), zxids[it]) for it in zxids if it.startswith(f"{ROOM}/{name}-"))
        ordered = [zxid for _, zxid in own]
        assert ordered == sorted(ordered), f"the writes of {name} are not in its order"


def number_of(path: str) -> int:
    """Of a client's own counting: the second part of its znodes' names."""
    return int(path.split("-")[1])
