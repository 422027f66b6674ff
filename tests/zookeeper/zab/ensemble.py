"""An ensemble in one process: peers joined by their effects, in virtual time, from one seed.

Links are TCP's: in order, delayed, stalled by a cut, and broken by a crash or at will. A disk does
what it is asked in order and some time later; a crash loses what it has not come to. A tree is the
list of entries that were applied, which is all that the checkers want to know of it.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from odradek.zookeeper.settings.members import Member, Role, read_member
from odradek.zookeeper.wire.codes import Op, ServerState
from odradek.zookeeper.wire.election import Notification
from odradek.zookeeper.wire.messages.quorum import QuorumPacket
from odradek.zookeeper.wire.messages.txn import SetDataTxn, TxnHeader
from odradek.zookeeper.wire.quorum import ForwardedRequest
from odradek.zookeeper.zab import effects as fx
from odradek.zookeeper.zab.configuration import membership_in
from odradek.zookeeper.zab.history import History
from odradek.zookeeper.zab.peer import Peer
from odradek.zookeeper.zab.quorum import Membership, membership_of
from odradek.zookeeper.zab.timing import Timing
from odradek.zookeeper.zab.window import Entry
from tests.zookeeper.zab.singles import singles

TIMING = Timing(
    tick_ms=200,
    init_limit=6,
    sync_limit=3,
    connect_retry_ms=50,
    notification_min_ms=50,
    notification_max_ms=800,
    finalize_ms=40,
)
TICK_EVERY_MS = 20
SESSION = 0x77
TRACED_MAX = 3000


def membership(voters: int, observers: int = 0) -> Membership:
    """Servers 1, 2, 3 …, the last ones of them observers."""
    lines = {}
    for id_ in range(1, voters + observers + 1):
        role = "participant" if id_ <= voters else "observer"
        lines[id_] = read_member(f"127.0.0.1:{2000 + id_}:{3000 + id_}:{role}")
    return membership_of(lines)


def with_roles(members: Mapping[int, Member], voters: Collection[int]) -> dict[int, Member]:
    return {
        id_: replace(it, role=Role.PARTICIPANT if id_ in voters else Role.OBSERVER)
        for id_, it in members.items()
    }


@dataclass(slots=True)
class Store:
    """What a disk holds for good."""

    accepted_epoch: int = 0
    current_epoch: int = 0
    base_zxid: int = 0
    base: list[Entry] = field(default_factory=list)  # The newest snapshot.
    log: list[Entry] = field(default_factory=list)
    membership: Membership | None = None
    zxids: set[int] = field(default_factory=set)  # Of both.

    def tree(self) -> list[Entry]:
        return self.base + self.log

    @property
    def last_zxid(self) -> int:
        return self.log[-1].zxid if self.log else self.base_zxid

    def write(self, effect: fx.DiskEffect, snapshot: list[Entry]) -> None:
        match effect:
            case fx.Log():
                self.log += effect.entries
                self.zxids.update(entry.zxid for entry in effect.entries)
            case fx.Truncate():
                self.log = cut(self.log, effect.zxid)
                self.base = cut(self.base, effect.zxid)
                self.base_zxid = min(self.base_zxid, effect.zxid)
                self.zxids = {entry.zxid for entry in self.tree()}
            case fx.InstallSnapshot():
                self.base, self.base_zxid, self.log = snapshot, effect.zxid, []
                self.zxids = {entry.zxid for entry in snapshot}
            case fx.Activate():
                self.membership = effect.membership
            case fx.WriteEpoch(file=fx.EpochFile.ACCEPTED):
                self.accepted_epoch = effect.epoch
            case fx.WriteEpoch():
                self.current_epoch = effect.epoch


def newest_membership(tree: list[Entry]) -> Membership | None:
    found = (membership_in(entry.data) for entry in reversed(tree))
    return next((it for it in found if it), None)


def cut(entries: list[Entry], zxid: int) -> list[Entry]:
    return [entry for entry in entries if entry.zxid <= zxid]


@dataclass(slots=True)
class Snapshot:
    """What follows a SNAP packet on the wire."""

    entries: list[Entry]


@dataclass(slots=True)
class Pipe:
    """One link, seen from both ends; an end is a server, its incarnation and its own number."""

    dialler: Server
    dialler_life: int
    dialler_link: int
    listener: Server
    listener_life: int = -1
    listener_link: int = -1
    arrives_ms: dict[int, float] = field(default_factory=dict)  # The last one's, by direction.
    is_open: bool = True


class Server:
    """A shell for one peer: it does what the effects say, on toys."""

    def __init__(self, my_id: int, world: Ensemble) -> None:
        self.id = my_id
        self.world = world
        self.store = Store()
        self.life = 0
        self.is_up = False
        self.paused_until_ms = 0.0
        self.clock_rate = 1.0
        self.pipes: dict[int, Pipe] = {}
        self.queue: list[tuple[fx.DiskEffect, list[Entry]]] = []

    # Life and death.

    def boot(self) -> None:
        store, world = self.store, self.world
        self.is_up = True
        self.life += 1
        self.tree = store.tree()
        self.log = Store(base_zxid=store.base_zxid, base=store.base[:], log=store.log[:])
        self.queue = []
        self.is_writing = False
        self.serving: ServerState | None = None
        self.zxid = 0
        self.snapshots: dict[int, list[Entry]] = {}
        self.pipes = {}
        self.waiting: dict[bytes, None] = {}  # Writes of our own clients.
        recent = store.log[-world.window :] if world.window else []
        history = History(
            store.membership or world.membership,
            store.accepted_epoch,
            store.current_epoch,
            store.last_zxid,
            recent,
            proposed=newest_membership(self.tree),
            committed_log_count=world.window,
        )
        peer_type = world.peer_types.get(self.id, Peer)
        self.peer = peer_type(self.id, world.timing, history)
        self.peer.start(self.now_ms)
        self.act()
        world.later(TICK_EVERY_MS, self, self._tick)

    def crash(self, *, keeps_some: bool = True) -> None:
        """Lose what is in memory, and of what the disk was asked for and has not done, the end."""
        kept = self.world.random.randint(0, len(self.queue)) if keeps_some else 0
        for effect, snapshot in self.queue[:kept]:
            self.store.write(effect, snapshot)
        for pipe in list(self.pipes.values()):
            self.world.break_pipe(pipe, self)
        self.is_up = False
        self.life += 1
        self.queue = []
        self.serving = None
        self.world.checkers.stopped(self)

    @property
    def now_ms(self) -> int:
        return int(self.world.now_ms * self.clock_rate) + self.id * 1000

    def _tick(self) -> None:
        self.peer.tick(self.now_ms)
        self.act()
        self.world.later(TICK_EVERY_MS, self, self._tick)

    # Effects.

    def act(self) -> None:
        """Do what the core asks for, and what that leads to."""
        while asked := self.peer.take_effects():
            for effect in singles(asked):
                self.world.trace.append((self.id, effect))
                self._do(effect)

    def _do(self, effect: fx.Effect) -> None:
        if isinstance(effect, fx.DiskEffect):
            self._write(effect)
            return
        match effect:
            case fx.Notify():
                self.world.notify(self, effect.server_id, effect.notification)
            case fx.Connect():
                self.world.connect(self, effect.link, effect.server_id)
            case fx.Close():
                if pipe := self.pipes.get(effect.link):
                    self.world.break_pipe(pipe, self)
            case fx.Send():
                for link in effect.links:
                    self._send(link, effect.packets[0])
            case fx.SendSnapshot():
                assert effect.zxid >= (self.tree[-1].zxid if self.tree else 0)
                self._send(effect.link, Snapshot(self.tree[:]))
            case fx.ReadLog():
                self._read_log(effect)
            case fx.Commit():
                self._commit(effect.entries[0])
            case fx.Serve():
                self._serve(effect)
            case fx.Retire():
                self.serving = None
                self.waiting.clear()
                self.world.checkers.stopped(self)
            case fx.Decide():
                self._decide(effect)
            case _:
                self.world.seen.append((self.id, effect))

    def _send(self, link: int, what: QuorumPacket | Snapshot) -> None:
        if pipe := self.pipes.get(link):
            self.world.send(pipe, self, what)

    def _read_log(self, effect: fx.ReadLog) -> None:
        logged: list[Entry] | None = None
        if self.world.reads_log and self.log.base_zxid <= effect.zxid:
            before = [it for it in self.log.log if it.zxid <= effect.zxid][-1:]
            logged = before + [it for it in self.log.log if it.zxid > effect.zxid]
        delay_ms = self.world.random.uniform(0, 10)
        self.world.later(delay_ms, self, lambda: self._log_read(effect.link, logged))

    def _log_read(self, link: int, logged: list[Entry] | None) -> None:
        self.peer.log_read(link, logged, self.now_ms)
        self.act()

    def _commit(self, entry: Entry) -> None:
        self.tree.append(entry)
        self.world.checkers.committed(self, entry)
        if entry.data in self.waiting:
            del self.waiting[entry.data]
            self.world.checkers.acknowledged(entry)

    def _serve(self, effect: fx.Serve) -> None:
        self.serving = effect.state
        self.zxid = effect.zxid
        self.world.checkers.serves(self, effect)

    def _decide(self, effect: fx.Decide) -> None:
        if effect.request.type == Op.SYNC:
            self.peer.sync(effect.link)
        else:
            self.propose(effect.request.body)

    # Clients.

    def write(self, data: bytes) -> None:
        """A client of this server writes."""
        if self.serving is None:
            return
        self.waiting[data] = None
        if self.serving is ServerState.LEADING:
            self.propose(data)
        else:
            self.peer.forward(ForwardedRequest(SESSION, 1, Op.CREATE, data), ())
        self.act()

    def propose(self, data: bytes) -> None:
        self.zxid += 1
        self.world.checkers.proposed(Entry(self.zxid, data))
        self.peer.propose(self.zxid, data, self.now_ms)

    def reconfigure(self, voters: Collection[int]) -> bool:
        """Ask the leader to let these vote and the others observe; say whether it may be tried."""
        leader, configuration = self.peer.leader, self.peer.history.configuration
        if self.serving is not ServerState.LEADING or leader is None or configuration.proposed:
            return False
        zxid = self.zxid + 1
        new = membership_of(with_roles(configuration.current.members, voters), version=zxid)
        if not leader.is_synced(new.quorums):
            return False
        txn = SetDataTxn("/zookeeper/config", new.text.encode(), -1)
        self.propose(TxnHeader(SESSION, 0, zxid, 0, Op.RECONFIG).encode() + txn.encode())
        self.act()
        return True

    # The disk.

    def _write(self, effect: fx.DiskEffect) -> None:
        snapshot: list[Entry] = []
        if isinstance(effect, fx.InstallSnapshot):
            snapshot = self.snapshots.pop(effect.link)
            self.tree = snapshot[:]
        elif isinstance(effect, fx.Truncate):
            self.tree = cut(self.tree, effect.zxid)
        self.log.write(effect, snapshot)
        self.queue.append((effect, snapshot))
        if not self.is_writing:
            self._start_writing()

    def _start_writing(self) -> None:
        self.is_writing = True
        count = len(self.queue)
        delay_ms = self.world.disk_delay_ms(self.queue)
        self.world.later(delay_ms, self, lambda: self._written(count))

    def _written(self, count: int) -> None:
        done, self.queue = self.queue[:count], self.queue[count:]
        for effect, snapshot in done:
            self.store.write(effect, snapshot)
        self.is_writing = False
        if self.queue:
            self._start_writing()
        self.peer.durable(done[-1][0].mark, self.now_ms)
        self.act()

    # The network.

    def take(self, link: int, what: QuorumPacket | Snapshot) -> None:
        if link not in self.pipes:
            return
        if isinstance(what, Snapshot):
            self.snapshots[link] = what.entries
            self.peer.snapshot_received(link, self.now_ms)
        else:
            self.peer.receive(link, [what], self.now_ms)
        self.act()

    def hear(self, server_id: int, notification: Notification) -> None:
        self.peer.hear(server_id, notification, self.now_ms)
        self.act()

    def lose(self, link: int) -> None:
        if self.pipes.pop(link, None):
            self.peer.closed(link, self.now_ms)
            self.act()


class Ensemble:
    """The world: time, wires and servers."""

    def __init__(
        self,
        seed: int,
        checkers: Any,
        voters: int = 3,
        observers: int = 0,
        *,
        groups: dict[int, tuple[int, ...]] | None = None,
        weights: dict[int, int] | None = None,
        window: int = 5,
        reads_log: bool = True,
        peer_types: dict[int, type[Peer]] | None = None,
        timing: Timing = TIMING,
    ) -> None:
        self.random = Random(seed)
        members = membership(voters, observers).members
        self.membership = membership_of(members, groups, weights)
        self.timing = timing
        self.window = window
        self.reads_log = reads_log
        self.peer_types = peer_types or {}
        self.checkers = checkers
        self.now_ms = 0.0
        self.delay_ms = (0.1, 4.0)
        self.disk_ms = (0.1, 5.0)
        self.snapshot_ms = (1.0, 60.0)
        self.cuts: set[tuple[int, int]] = set()  # From, to.
        self.trace: deque[tuple[int, fx.Effect]] = deque(maxlen=TRACED_MAX)
        self.seen: list[tuple[int, fx.Effect]] = []
        self._events: list[tuple[float, int, Server | None, int, Callable[[], Any]]] = []
        self._turn = 0
        self._stalled: list[tuple[int, int, Callable[[], None]]] = []
        self._slots: dict[tuple[int, int], int] = {}
        self.servers = {id_: Server(id_, self) for id_ in sorted(self.membership.members)}
        checkers.world = self

    def boot(self, *ids: int) -> None:
        for id_ in ids or tuple(self.servers):
            self.servers[id_].boot()

    # Time.

    def later(self, delay_ms: float, server: Server | None, action: Callable[[], Any]) -> None:
        """Do this then, if the server still lives the life it lives now."""
        self._turn += 1
        life = server.life if server else 0
        heapq.heappush(self._events, (self.now_ms + delay_ms, self._turn, server, life, action))

    def run(self, duration_ms: float) -> None:
        end_ms = self.now_ms + duration_ms
        while self._events and self._events[0][0] <= end_ms:
            at_ms, turn, server, life, action = heapq.heappop(self._events)
            self.now_ms = max(self.now_ms, at_ms)
            if server and server.life != life:
                continue
            if server and server.paused_until_ms > self.now_ms:
                paused = (server.paused_until_ms, turn, server, life, action)
                heapq.heappush(self._events, paused)
                continue
            action()
        self.now_ms = end_ms

    def run_until(self, condition: Callable[[], bool], limit_ms: float = 20_000) -> None:
        end_ms = self.now_ms + limit_ms
        while not condition():
            assert self.now_ms < end_ms, "it never came true"
            self.run(10)

    def disk_delay_ms(self, queue: list[tuple[fx.DiskEffect, list[Entry]]]) -> float:
        has_snapshot = any(isinstance(effect, fx.InstallSnapshot) for effect, _ in queue)
        return self.random.uniform(*(self.snapshot_ms if has_snapshot else self.disk_ms))

    # Wires.

    def _delay(self) -> float:
        return self.random.uniform(*self.delay_ms)

    def _pass(self, source: int, target: int, action: Callable[[], None]) -> None:
        """Do this now, or when the wire from there to here is whole again."""
        if (source, target) in self.cuts:
            self._stalled.append((source, target, action))
        else:
            action()

    def heal(self) -> None:
        self.cuts.clear()
        stalled, self._stalled = self._stalled, []
        for _, _, action in stalled:
            self.later(0, None, action)

    def notify(self, source: Server, target_id: int, notification: Notification) -> None:
        target = self.servers.get(target_id)
        if target is None:
            return
        self._turn += 1
        number = self._turn
        pair = source.id, target_id

        def deliver() -> None:
            # Of what waits at a wire, only the newest goes on.
            if number >= self._slots.get(pair, 0) and target.is_up:
                self._slots[pair] = number
                self.later(0, target, lambda: target.hear(source.id, notification))

        self.later(self._delay(), None, lambda: self._pass(*pair, deliver))

    def connect(self, source: Server, link: int, target_id: int) -> None:
        target = self.servers[target_id]
        pipe = Pipe(source, source.life, link, target)
        source.pipes[link] = pipe
        self.later(self._delay(), None, lambda: self._pass(source.id, target.id, arrive))

        def arrive() -> None:
            if source.life != pipe.dialler_life or not pipe.is_open:
                return
            number = target.peer.accept(target.now_ms) if target.is_up else None
            if number is None:
                self.later(self._delay(), source, lambda: source.lose(link))
                pipe.is_open = False
                return
            pipe.listener_life, pipe.listener_link = target.life, number
            target.pipes[number] = pipe
            self.later(self._delay(), source, answered)

        def answered() -> None:
            if link in source.pipes:
                source.peer.connected(link, source.now_ms)
                source.act()

    def send(self, pipe: Pipe, source: Server, what: QuorumPacket | Snapshot) -> None:
        target, life, link = self._other_end(pipe, source)
        at_ms = max(pipe.arrives_ms.get(source.id, 0.0), self.now_ms + self._delay())
        pipe.arrives_ms[source.id] = at_ms

        def arrive() -> None:
            if target.life == life:
                self.later(0, target, lambda: target.take(link, what))

        self.later(at_ms - self.now_ms, None, lambda: self._pass(source.id, target.id, arrive))

    def break_pipe(self, pipe: Pipe, breaker: Server | None = None) -> None:
        """Both ends lose it; the one that broke it is not told.

        What is still under way may arrive before the other end notices, or be lost.
        """
        pipe.is_open = False
        for server, life, link in (
            (pipe.dialler, pipe.dialler_life, pipe.dialler_link),
            (pipe.listener, pipe.listener_life, pipe.listener_link),
        ):
            if server is breaker:
                server.pipes.pop(link, None)
            elif server.life == life:
                source = breaker.id if breaker else server.id
                self._tell_lost(pipe, source, server, link)

    def _tell_lost(self, pipe: Pipe, source: int, server: Server, link: int) -> None:
        delay_ms = self._delay()
        if self.random.random() < 0.5:
            delay_ms = max(delay_ms, pipe.arrives_ms.get(source, 0.0) - self.now_ms)

        def lose() -> None:
            self.later(0, server, lambda: server.lose(link))

        self.later(delay_ms, None, lambda: self._pass(source, server.id, lose))

    def _other_end(self, pipe: Pipe, source: Server) -> tuple[Server, int, int]:
        if source is pipe.dialler:
            return pipe.listener, pipe.listener_life, pipe.listener_link
        return pipe.dialler, pipe.dialler_life, pipe.dialler_link

    # Faults.

    def cut(self, source: int, target: int) -> None:
        """Let nothing through in this direction until `heal`."""
        self.cuts.add((source, target))

    def isolate(self, server_id: int) -> None:
        for other in self.servers:
            if other != server_id:
                self.cut(server_id, other)
                self.cut(other, server_id)

    # Questions.

    @property
    def leader(self) -> Server | None:
        """The server that leads and serves, if it is one that all would agree on."""
        leading = [it for it in self.servers.values() if it.serving is ServerState.LEADING]
        return max(leading, key=lambda it: it.peer.history.current_epoch, default=None)

    def all_serve(self) -> bool:
        return all(server.serving is not None for server in self.servers.values())
