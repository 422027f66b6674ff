"""A learner's way to its leader: reach it, accept its epoch, take its history, then serve.

    FOLLOWERINFO   which epoch we accepted last
    ACKEPOCH       once the new epoch is on disk: which history we have
    ACK            of NEWLEADER, once that history, be it by DIFF, TRUNC or SNAP, and then the
                   epoch are on disk: from here on we count as one that holds it
    ACK            of UPTODATE: the history is committed, clients are served

What the leader sends as committed on the way is applied only with UPTODATE: until a quorum holds
it, the leader hopes. What differs between followers and observers comes after that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from enum import IntEnum

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.wire.codes import PacketType, ServerState
from odradek.zookeeper.wire.messages.data import Id
from odradek.zookeeper.wire.messages.quorum import QuorumPacket, SessionTouch, SessionVerdict
from odradek.zookeeper.wire.quorum import ForwardedRequest
from odradek.zookeeper.zab import packets
from odradek.zookeeper.zab.configuration import membership_in
from odradek.zookeeper.zab.effects import Close, Connect, Revalidated, Serve, Synced, Tell
from odradek.zookeeper.zab.history import History
from odradek.zookeeper.zab.quorum import Membership, read_membership
from odradek.zookeeper.zab.timing import Timing
from odradek.zookeeper.zab.window import Entry
from odradek.zookeeper.zab.zxid import epoch_of, first_zxid, follows

ALREADY_ACCEPTED = -1
FOR_ALL = frozenset({PacketType.PING, PacketType.REVALIDATE, PacketType.SYNC})


class Step(IntEnum):
    """In the order in which a learner takes them."""

    CONNECTING = 0
    REGISTERED = 1  # Waits for LEADERINFO.
    ACCEPTING = 2  # The new epoch is on its way to the disk.
    ACCEPTED = 3  # Waits for DIFF, TRUNC or SNAP.
    RECEIVING = 4  # A snapshot is coming.
    SYNCING = 5  # Takes entries, until NEWLEADER.
    ENTERING = 6  # The history and the epoch are on their way to the disk.
    ENTERED = 7  # Waits for UPTODATE.
    SERVING = 8


class Learner(ABC):
    """One attempt to follow one leader."""

    info_type: PacketType
    state: ServerState
    is_counted_on = True  # Whether a leader counts our promise to follow no older epoch.

    def __init__(
        self,
        my_id: int,
        leader: int,
        timing: Timing,
        history: History,
        now_ms: int,
    ) -> None:
        self.leader = leader
        self.step = Step.CONNECTING
        self.ended: str | None = None
        self.successor: int | None = None  # Who leads the new membership, if we leave for that.
        self.epoch = 0
        self.link = 0
        self._to_leader: tuple[int, ...] = ()
        self.touched: dict[int, int] = {}  # Time-outs of sessions we heard from, by id.
        self._my_id = my_id
        self._configuration = history.configuration
        self._was_observer = history.configuration.current.is_observer(my_id)
        self._timing = timing
        self._history = history
        self._effects = history.effects
        self._tries = 0
        self._connect_deadline_ms = now_ms + timing.connect_ms
        self._retry_ms: int | None = now_ms
        self._heard_ms = now_ms
        self._mark = 0  # What the next ack waits for.
        self._snapshot_zxid = 0
        self._announced: Membership | None = None
        self._committed_through = 0
        self._uncommitted: deque[int] = deque()  # Zxids proposed while we synchronise.
        self._unacked: deque[tuple[int, int]] = deque()  # Marks of proposals, with zxids.

    @property
    def is_serving(self) -> bool:
        return self.step is Step.SERVING

    # The connection.

    def connect(self, link: int) -> None:
        """Try to reach the leader over this link."""
        self.link = link
        self._to_leader = (link,)
        self._tries += 1
        self._retry_ms = None
        self._effects.append(Connect(link, self.leader))

    def wants_link(self, now_ms: int) -> bool:
        return self._retry_ms is not None and now_ms >= self._retry_ms

    def connected(self, now_ms: int) -> None:
        self._enter(Step.REGISTERED, now_ms)
        version = self._configuration.current.version
        accepted = self._history.accepted_epoch
        self._send(packets.learner_info(self.info_type, accepted, self._my_id, version))

    def closed(self, now_ms: int) -> None:
        """The connection broke, or never was: a leader may need a moment until it is ready."""
        pause_ms = self._timing.connect_retry_least_ms << self._tries - 1
        retry_ms = now_ms + min(pause_ms, self._timing.connect_retry_ms)
        if (
            self.step <= Step.REGISTERED
            and self._tries < self._timing.connect_tries
            and retry_ms < self._connect_deadline_ms
        ):
            self.step = Step.CONNECTING
            self._retry_ms = retry_ms
        else:
            self.ended = f"the connection to leader {self.leader} is gone"

    def heard(self, now_ms: int) -> None:
        """Part of a snapshot came."""
        self._heard_ms = now_ms

    def drop(self, reason: str) -> None:
        self._effects.append(Close(self.link))
        self.ended = reason

    def tick(self, now_ms: int) -> None:
        if self.step is Step.CONNECTING:
            if now_ms >= self._connect_deadline_ms:
                self.drop(f"leader {self.leader} cannot be reached")
            return
        limit_ms = self._timing.sync_ms if self.is_serving else self._timing.init_ms
        if now_ms - self._heard_ms > limit_ms:
            self.drop(f"leader {self.leader} is silent")

    # Packets.

    def receive(self, received: Sequence[QuorumPacket], now_ms: int) -> None:
        self._heard_ms = now_ms
        for packet in received:
            if self.ended is not None:
                return
            if self.step is Step.SERVING:
                self._take(packet)
            else:
                self._take_in_turn(packet, now_ms)

    def _take_in_turn(self, packet: QuorumPacket, now_ms: int) -> None:
        match self.step:
            case Step.REGISTERED:
                self._take_leader_info(packet, now_ms)
            case Step.ACCEPTED:
                self._take_opening(packet, now_ms)
            case Step.SYNCING | Step.ENTERING | Step.ENTERED:
                self._synchronise(packet, now_ms)
            case _:
                raise ProtocolError(f"the leader sent a packet of type {packet.type} out of turn")

    def _take_leader_info(self, packet: QuorumPacket, now_ms: int) -> None:
        packets.expect(packet, PacketType.LEADERINFO)
        self.epoch = epoch_of(packet.zxid)
        is_old = self.epoch < self._history.accepted_epoch
        if self.epoch <= 0 or (is_old and self.is_counted_on):
            raise ProtocolError(f"epoch {self.epoch} is older than one that was accepted")
        if self.epoch <= self._history.accepted_epoch:
            # It was acked before, maybe to another leader, and can be acked but once.
            self._ack_epoch(ALREADY_ACCEPTED, now_ms)
            return
        self._mark = self._history.accept_epoch(self.epoch)
        self._enter(Step.ACCEPTING, now_ms)

    def _ack_epoch(self, current_epoch: int, now_ms: int) -> None:
        self._enter(Step.ACCEPTED, now_ms)
        self._send(packets.epoch_ack(self._history.last_zxid, current_epoch))

    def _take_opening(self, packet: QuorumPacket, now_ms: int) -> None:
        packets.expect(packet, PacketType.DIFF, PacketType.TRUNC, PacketType.SNAP)
        if packet.zxid < 0:
            raise ProtocolError(f"a history that ends at {packet.zxid}")
        way = PacketType(packet.type)
        self._effects.append(Tell(f"follows leader {self.leader} by {way.name} {packet.zxid:#x}"))
        if way is PacketType.SNAP:
            self._snapshot_zxid = packet.zxid
            self._enter(Step.RECEIVING, now_ms)
            return
        if way is PacketType.TRUNC:
            self._truncate(packet.zxid)
        # What is left in the log is the leader's history too.
        self._committed_through = self._history.last_zxid
        self._enter(Step.SYNCING, now_ms)

    def _truncate(self, zxid: int) -> None:
        if zxid > self._history.last_zxid:
            raise ProtocolError(f"TRUNC to {zxid:#x}, which is not reached")
        self._history.truncate(zxid)

    def snapshot_received(self, now_ms: int) -> None:
        """All of the snapshot has come, with the string that ends it."""
        assert self.step is Step.RECEIVING
        self._history.install(self.link, self._snapshot_zxid)
        self._committed_through = self._snapshot_zxid
        self._enter(Step.SYNCING, now_ms)

    def _synchronise(self, packet: QuorumPacket, now_ms: int) -> None:
        match packet.type:
            case PacketType.PROPOSAL:
                self._take_proposal(packet)
            case PacketType.COMMIT | PacketType.COMMITANDACTIVATE:
                self._take_commit(packet.zxid)
            case PacketType.INFORM:
                self._take_proposal(packet)
                self._take_commit(packet.zxid)
            case PacketType.INFORMANDACTIVATE:
                _, inform = packets.split_activation(packet)
                self._take_proposal(inform)
                self._take_commit(inform.zxid)
            case PacketType.NEWLEADER:
                self._take_newleader(packet, now_ms)
            case PacketType.UPTODATE:
                self._take_uptodate(now_ms)
            case PacketType.PING:
                pass  # The leader expects nothing but acks before UPTODATE.
            case _:
                raise ProtocolError(f"a packet of type {packet.type} before UPTODATE")

    def _take_proposal(self, packet: QuorumPacket) -> None:
        """Log it, unless the snapshot was taken later than it was queued and has it already."""
        zxid, last_zxid = packet.zxid, self._history.last_zxid
        if zxid <= self._snapshot_zxid:
            return
        if zxid != last_zxid + 1 and not follows(zxid, last_zxid):
            raise ProtocolError(f"proposal {zxid:#x} does not follow {last_zxid:#x}")
        mark = self._history.log(Entry(zxid, packets.data_of(packet)))
        self._unacked.append((mark, zxid))
        if self.step is not Step.SERVING:
            self._uncommitted.append(zxid)

    def _take_commit(self, zxid: int) -> None:
        if zxid <= self._snapshot_zxid:
            return
        if not self._uncommitted or self._uncommitted[0] != zxid:
            raise ProtocolError(f"commit {zxid:#x} is not of the oldest proposal")
        self._uncommitted.popleft()
        self._committed_through = zxid

    def _commit(self, zxid: int) -> None:
        """Apply the oldest entry, for that must it be."""
        if zxid <= self._snapshot_zxid:
            return
        tail = self._history.tail
        if not tail or tail[0].zxid != zxid:
            raise ProtocolError(f"commit {zxid:#x} is not of the oldest proposal")
        self._history.commit_next()

    def _take_newleader(self, packet: QuorumPacket, now_ms: int) -> None:
        if self.step is not Step.SYNCING or packet.zxid != first_zxid(self.epoch):
            raise ProtocolError(f"NEWLEADER {packet.zxid:#x} in epoch {self.epoch}")
        if packet.data and not self._configuration.is_fixed:
            self._take_membership(read_membership(packet.data.decode(errors="replace")))
        self._mark = self._history.enter_epoch(self.epoch)
        self._enter(Step.ENTERING, now_ms)

    def _take_membership(self, announced: Membership) -> None:
        """Know of those that the leader knows of, and forget others that were only proposed."""
        self._announced = announced
        pending = [membership_in(entry.data) for entry in self._history.tail]
        known = [announced, *(it for it in pending if it)]
        self._configuration.propose(max(known, key=lambda it: it.version))

    def _ack_newleader(self, now_ms: int) -> None:
        self._enter(Step.ENTERED, now_ms)
        self._send(packets.ack(first_zxid(self.epoch)))

    def _take_uptodate(self, now_ms: int) -> None:
        if self.step is not Step.ENTERED:
            raise ProtocolError("UPTODATE before NEWLEADER was acked")
        self._enter(Step.SERVING, now_ms)
        self._send(packets.ack(first_zxid(self.epoch)))
        while self._unacked and self._unacked[0][1] <= self._committed_through:
            self._unacked.popleft()  # Nobody waits for an ack of these.
        self._history.commit_through(self._committed_through)
        self._uncommitted.clear()  # From now on the tail of the history says the same.
        zxid = self._history.applied_zxid
        self._effects.append(Serve(self.state, self.leader, zxid, self.epoch))
        self._ack_durable()
        self._activate_committed()

    # The disk.

    def durable(self, now_ms: int) -> None:
        """The disk came to the history's `durable_mark`."""
        if self.step is Step.ACCEPTING and self._is_durable(self._mark):
            self._ack_epoch(self._history.current_epoch, now_ms)
        elif self.step is Step.ENTERING and self._is_durable(self._mark):
            self._ack_newleader(now_ms)
        elif self.step is Step.SERVING:
            self._ack_durable()

    @abstractmethod
    def _ack_durable(self) -> None:
        """Followers ack here what their disks hold; observers have no say."""

    def _activate_committed(self) -> None:
        """Go over to the memberships that came while we synchronised, unless still uncommitted."""
        pending = [membership_in(entry.data) for entry in self._history.tail]
        versions = [it.version for it in pending if it]
        for membership in (self._announced, self._configuration.proposed):
            if membership and membership.version not in versions and self.ended is None:
                self._activate(membership, self.leader)

    def _activate(self, membership: Membership, leader: int) -> None:
        """Go over to a membership; leave if that gives us another leader or another role."""
        self._history.activate(membership)
        if leader != self.leader:
            self.successor = leader
            self.drop(f"server {leader} leads the new membership")
        elif self._configuration.current.is_observer(self._my_id) != self._was_observer:
            self.drop("the new membership gives us another role")

    # Broadcast, as far as it is the same for all.

    def _take(self, packet: QuorumPacket) -> None:
        if packet.type not in FOR_ALL:  # Most are not.
            self._take_broadcast(packet)
            return
        match packet.type:
            case PacketType.PING:
                self._answer_ping(packet)
            case PacketType.REVALIDATE:
                verdict = SessionVerdict.decode(packets.data_of(packet))
                self._effects.append(Revalidated(verdict.session_id, verdict.is_valid))
            case PacketType.SYNC:
                self._effects.append(Synced())

    @abstractmethod
    def _take_broadcast(self, packet: QuorumPacket) -> None:
        """Take what only followers, or only observers, are sent once they serve."""

    def _answer_ping(self, packet: QuorumPacket) -> None:
        touches = [SessionTouch(*it) for it in self.touched.items()]
        self.touched.clear()
        self._send(packets.ping_answer(packet.zxid, touches))

    def forward(self, request: ForwardedRequest, authinfo: Sequence[Id]) -> None:
        """Let the leader decide what a client of ours asked for; a sync goes this way too."""
        self._send(packets.forwarded(request, authinfo))

    def revalidate(self, session_id: int, timeout_ms: int) -> None:
        """Ask the leader whether a session that comes to us still lives."""
        self._send(packets.revalidate(session_id, timeout_ms))

    def _enter(self, step: Step, now_ms: int) -> None:
        self.step = step
        self._heard_ms = now_ms

    def _send(self, packet: QuorumPacket) -> None:
        self._effects.send(self._to_leader, packet)

    def _is_durable(self, mark: int) -> bool:
        return self._history.durable_mark >= mark
