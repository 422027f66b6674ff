"""A member of an ensemble: the core of Zab, joined to sockets, disk, clock and state.

Whatever happens is told to the core, and what it then asks for is done, in its order: at once, or
by the journal. No rule of the protocol is kept here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from odradek.runtime.logs import NodeLog
from odradek.runtime.tasks import Tasks
from odradek.zookeeper.server.journal import Journal
from odradek.zookeeper.server.links import Links
from odradek.zookeeper.server.log_writer import LogWriter
from odradek.zookeeper.server.replica import Replica
from odradek.zookeeper.server.shelf import Shelf
from odradek.zookeeper.server.votes import Votes
from odradek.zookeeper.settings.members import Address
from odradek.zookeeper.settings.members import Member as ZooKeeperMember
from odradek.zookeeper.storage.recover import Recovered
from odradek.zookeeper.storage.snapshot_slices import body_slices
from odradek.zookeeper.storage.snapshot_stream import SnapshotStream
from odradek.zookeeper.wire.codes import ServerState
from odradek.zookeeper.wire.election import Notification
from odradek.zookeeper.wire.messages.quorum import QuorumPacket
from odradek.zookeeper.zab import effects as fx
from odradek.zookeeper.zab.peer import Peer
from odradek.zookeeper.zab.quorum import Membership
from odradek.zookeeper.zab.timing import Timing
from odradek.zookeeper.zab.window import Entry
from odradek.zookeeper.zab.zxid import first_zxid

TICK_S = 0.02


class Member:
    """Does what its core asks for."""

    journal_type: type[Journal] = Journal

    def __init__(
        self,
        peer: Peer,
        shelf: Shelf,
        writer: LogWriter,
        tasks: Tasks,
        note: NodeLog,
        *,
        timing: Timing,
        data_bytes_max: int,
        leader_serves: bool,
        hosts: Callable[[Sequence[Address]], Sequence[str] | None],
        reads_after_ms: int | None = None,
    ) -> None:
        self.peer = peer
        self.replica: Replica  # Given once it is made: it needs us, and we need it.
        self.votes: Votes
        self.journal = self.journal_type(writer, self._durable, tasks, note)
        self.links = Links(self, data_bytes_max, self._start, note)
        self.timing = timing
        self.serving_since_ms = 0
        self.looking_count = 1  # How often we had no leader.
        self._shelf = shelf
        self._tasks = tasks
        self._note = note
        self._loop = asyncio.get_running_loop()
        self._connect_s = timing.connect_ms / 1000
        self._leader_serves = leader_serves
        self._hosts = hosts
        self._reads_after_ms = reads_after_ms
        self._looking_since_ms = self.now_ms()
        self._received: dict[int, SnapshotStream] = {}  # Snapshots that came, by link.
        self._is_awake = False
        self._has_committed = False
        self._doers: dict[type, Callable[[Any], None]] = {
            fx.Log: lambda it: self.journal.append(it.mark, it.entries),
            fx.Truncate: self._truncate,
            fx.InstallSnapshot: self._install,
            fx.WriteEpoch: self._write_epoch,
            fx.Activate: self._activate,
            fx.Notify: lambda it: self.votes.say(it.server_id, it.notification),
            fx.Connect: self._connect,
            fx.Close: self._close,
            fx.Send: lambda it: self.links.send(it.links, it.packets),
            fx.SendSnapshot: self._send_snapshot,
            fx.ReadLog: self._read_log,
            fx.Commit: self._commit,
            fx.Serve: self._serve,
            fx.Retire: self._retire,
            fx.TouchSessions: self._touch_sessions,
            fx.Decide: lambda it: self.replica.decide(it),
            fx.Revalidate: lambda it: self.replica.revalidate(it),
            fx.Revalidated: lambda it: self.replica.revalidated(it.session_id, it.is_valid),
            fx.Synced: self._synced,
            fx.Tell: lambda it: self._note.info("%s", it.line),
        }

    @property
    def membership(self) -> Membership:
        return self.peer.history.configuration.current

    def now_ms(self) -> int:
        return int(self._loop.time() * 1000)

    async def run(self) -> None:
        """Take part as long as the server lives."""
        self.peer.start(self.now_ms())
        self.act()
        while True:
            await asyncio.sleep(TICK_S)
            self.peer.tick(self.now_ms())
            self.act()
            if self._reads_after_ms is not None:
                self._see_to_readers(self._reads_after_ms)

    def _see_to_readers(self, reads_after_ms: int) -> None:
        """Let clients read while we look for a leader in vain, and only then."""
        clients = self.replica.clients
        if self.peer.state is not ServerState.LOOKING:
            self._looking_since_ms = self.now_ms()
        elif self.now_ms() - self._looking_since_ms > reads_after_ms and not clients.is_serving:
            self._note.info("serves those who only read: there is no leader")
            self.replica.serve_reads()

    def close(self) -> None:
        self.links.close_all()
        self.votes.close()

    # What the core asks for

    def wake(self) -> None:
        """Something was told to the core; all that is told in this tick is acted upon together."""
        if not self._is_awake:
            self._is_awake = True
            self._loop.call_soon(self.act)

    def _act_soon(self) -> None:
        """What the disk and other links bring in this turn is answered with the same writes."""
        if self.peer.is_serving:
            self.wake()
        else:
            self.act()

    def act(self) -> None:
        """Do what the core asks for, and what that leads to."""
        self._is_awake = False
        if self.replica.clients.is_read_only and self.peer.state is not ServerState.LOOKING:
            self.replica.retire("there may be a leader")
        doers, take_effects = self._doers, self.peer.take_effects
        while effects := take_effects():
            for effect in effects:
                doers[type(effect)](effect)
        self.links.flush()
        if self._has_committed:
            self._has_committed = False
            self.replica.clients.flush()
        if self.links.is_open != (self.peer.leader is not None):
            self._open_or_close()

    def _commit(self, effect: fx.Commit) -> None:
        self._begin()
        commit = self.replica.commit
        for zxid, entry in effect.entries:
            commit(zxid, entry)

    def _synced(self, effect: fx.Synced) -> None:
        self._begin()
        self.replica.synced()

    def _begin(self) -> None:
        """Clients are about to be answered."""
        if not self._has_committed:
            self._has_committed = True
            self.replica.clients.begin()

    def _serve(self, effect: fx.Serve) -> None:
        self.serving_since_ms = self.now_ms()
        config = self.membership.text
        self.replica.serve(effect.state, effect.zxid, first_zxid(effect.epoch), config)
        if self.replica.is_leading and not self._leader_serves:
            self.replica.clients.is_serving = False
        what = effect.state.name.lower()
        self._note.info("serves, %s in epoch %s under server %s", what, effect.epoch, effect.leader)

    def _retire(self, effect: fx.Retire) -> None:
        self._note.info("looks for a leader: %s", effect.reason)
        self.looking_count += 1
        self.replica.retire(effect.reason)

    def _touch_sessions(self, effect: fx.TouchSessions) -> None:
        for touch in effect.touches:
            self.replica.touch(touch)

    # The disk

    def _durable(self, mark: int) -> None:
        self.peer.durable(mark, self.now_ms())
        self._act_soon()

    def _truncate(self, effect: fx.Truncate) -> None:
        def go_back() -> Recovered | None:
            # Known in its turn only: a snapshot may wait ahead of it, and be our tree by then.
            is_ahead = self.replica.clients.tree.last_zxid > effect.zxid
            return self._shelf.go_back(effect.zxid, is_ahead and not effect.for_snapshot)

        self.journal.do(effect.mark, go_back, self._gone_back)

    def _gone_back(self, found: Recovered | None) -> None:
        if found is not None:
            self.replica.replace(found.tree, found.timeouts)

    def _install(self, effect: fx.InstallSnapshot) -> None:
        stream = self._received.pop(effect.link)
        stream.tree.last_zxid = effect.zxid
        self.journal.do(
            effect.mark,
            lambda: self._shelf.install(stream.tree, stream.timeouts),
            lambda _: self.replica.replace(stream.tree, stream.timeouts),
        )

    def _write_epoch(self, effect: fx.WriteEpoch) -> None:
        name, epoch = effect.file.value, effect.epoch
        self.journal.do(effect.mark, lambda: self._shelf.write_epoch(name, epoch), ignore)

    def _activate(self, effect: fx.Activate) -> None:
        members = effect.membership
        self._note.info("goes over to the members of version %x", members.version)
        self.journal.do(effect.mark, lambda: self._shelf.write_members(members), ignore)

    def _read_log(self, effect: fx.ReadLog) -> None:
        def done(entries: Sequence[Entry] | None) -> None:
            self.peer.log_read(effect.link, entries, self.now_ms())
            self.wake()

        self.journal.do(None, lambda: self._shelf.read_log(effect.zxid), done)

    # The quorum port

    def _connect(self, effect: fx.Connect) -> None:
        self.links.dial(effect.link, self._addresses(effect.server_id), self._connect_s)

    def _close(self, effect: fx.Close) -> None:
        self._received.pop(effect.link, None)
        self.links.close(effect.link)

    def _send_snapshot(self, effect: fx.SendSnapshot) -> None:
        self.links.send_snapshot(effect.link, self._slices())

    def _slices(self) -> Iterator[bytes]:
        return body_slices(self.replica.clients.tree, self.replica.timeouts)

    def _open_or_close(self) -> None:
        """Learners find the port of a leader open, and no other."""
        if self.peer.leader is None:
            self.links.close_port()
        elif addresses := self._addresses(self.peer.my_id):
            self.links.open_port(self._hosts(addresses), addresses[0].port)

    def _addresses(self, server_id: int) -> Sequence[Address]:
        member = self._member(server_id)
        return member.quorum_addresses if member else ()

    def election_addresses(self, server_id: int) -> Sequence[Address]:
        member = self._member(server_id)
        return member.election_addresses if member else ()

    def _member(self, server_id: int) -> ZooKeeperMember | None:
        configuration = self.peer.history.configuration
        newest, current = configuration.newest.members, configuration.current.members
        return newest.get(server_id) or current.get(server_id)

    def accepted(self) -> int | None:
        return self.peer.accept(self.now_ms())

    def connected(self, link: int) -> None:
        self.peer.connected(link, self.now_ms())
        self.act()

    def lost(self, link: int) -> None:
        self._received.pop(link, None)
        self.peer.closed(link, self.now_ms())
        self.act()

    def received(self, link: int, packets: list[QuorumPacket]) -> None:
        self.peer.receive(link, packets, self.now_ms())
        self._act_soon()

    def receiving(self, link: int) -> None:
        self.peer.heard(link, self.now_ms())

    def snapshot_received(self, link: int, stream: SnapshotStream) -> None:
        self._received[link] = stream
        self.peer.snapshot_received(link, self.now_ms())
        self.act()

    def broken(self, link: int, reason: str) -> None:
        self._note.warning("a peer is parted with: %s", reason)
        self.links.close(link)
        self.lost(link)

    # The election port

    def hear(self, server_id: int, notification: Notification) -> None:
        self.peer.hear(server_id, notification, self.now_ms())
        self.act()

    def gone(self, server_id: int) -> None:
        self.peer.gone(server_id, self.now_ms())
        self.act()

    def _start(self, name: str, work: Any) -> None:
        self._tasks.start(name, work, may_end=True)


def ignore(result: object) -> None:
    """It is done, and that is all."""
