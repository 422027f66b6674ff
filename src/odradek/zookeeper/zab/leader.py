"""The leader: it finds an epoch that nobody used, brings a quorum to its history, then broadcasts.

    discovery         a quorum says which epochs it accepted; the new one is bigger than all. It is
                      offered; whoever has a newer history than ours is turned away
    synchronisation   once a quorum accepted the epoch, each learner is brought to our history
    broadcast         once a quorum holds that history on disk, it is committed, and clients are
                      served: what they write is proposed, acked, committed, in order

Every phase has its limit, and a leader that no longer hears from a quorum steps down: it could not
commit anything, and another may lead already.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.wire.codes import PacketType, ServerState
from odradek.zookeeper.wire.messages.quorum import (
    DesignatedLeader,
    EpochAck,
    QuorumPacket,
    SessionTouch,
)
from odradek.zookeeper.wire.quorum import ForwardedRequest, decode_touches
from odradek.zookeeper.zab import packets
from odradek.zookeeper.zab.broadcast import Broadcast
from odradek.zookeeper.zab.configuration import membership_in
from odradek.zookeeper.zab.effects import (
    Close,
    Decide,
    ReadLog,
    Revalidate,
    SendSnapshot,
    Serve,
    Synced,
    Tell,
    TouchSessions,
)
from odradek.zookeeper.zab.history import History
from odradek.zookeeper.zab.learner_handler import LearnerHandler, Stage
from odradek.zookeeper.zab.quorum import Membership, Quorums
from odradek.zookeeper.zab.succession import acking, designate
from odradek.zookeeper.zab.sync import Plan, plan_sync, plan_sync_with_log, snapshot_at
from odradek.zookeeper.zab.timing import Timing
from odradek.zookeeper.zab.window import Entry
from odradek.zookeeper.zab.zxid import COUNTER_MAX, EPOCH_MAX, counter_of, epoch_of, first_zxid

# Plain numbers are compared in a third of the time that members of an enumeration take.
ACK, REQUEST = int(PacketType.ACK), int(PacketType.REQUEST)
SERVING = Stage.SERVING


class Phase(Enum):
    """The phases of Zab, by the names that `mntr` gives them."""

    DISCOVERY = "discovery"
    SYNCHRONIZATION = "synchronization"
    BROADCAST = "broadcast"


class Leader:
    """One term of leadership."""

    broadcast_type = Broadcast

    def __init__(self, my_id: int, timing: Timing, history: History, now_ms: int) -> None:
        self.phase = Phase.DISCOVERY
        self.ended: str | None = None
        self.epoch = history.accepted_epoch + 1
        self.handlers: dict[int, LearnerHandler] = {}
        self._my_id = my_id
        self._configuration = history.configuration
        self._timing = timing
        self._sync_ms = timing.sync_ms
        self._history = history
        self._effects = history.effects
        self._recency = (history.current_epoch, history.last_zxid)
        self._broadcast: Broadcast | None = None
        self._registered = {my_id}
        self._accepted: set[int] = set()
        self._synced: set[int] = set()
        self._accepted_mark: int | None = None
        self._current_mark: int | None = None
        self._deadline_ms = now_ms + timing.init_ms
        self._ping_ms = self._check_ms = 0
        self._follower_links: tuple[int, ...] = ()
        self._observer_links: tuple[int, ...] = ()
        self._choose_epoch(now_ms)

    @property
    def last_processed(self) -> int:
        """Where a leader says it stands: once established, in its epoch, if nothing else is."""
        if self.phase is not Phase.BROADCAST:
            return self._history.last_zxid
        return max(self._history.applied_zxid, first_zxid(self.epoch))

    @property
    def pending_sync_count(self) -> int:
        return self._broadcast.pending_sync_count if self._broadcast else 0

    # What comes from learners.

    def accept(self, link: int, now_ms: int) -> None:
        """A learner connected."""
        patience_ms = self._timing.init_ms + self._timing.sync_ms
        self.handlers[link] = LearnerHandler(link, now_ms, now_ms + patience_ms)

    def receive(self, link: int, received: Sequence[QuorumPacket], now_ms: int) -> None:
        handler = self.handlers.get(link)
        if handler is not None and handler.stage is SERVING:
            handler.heard_ms = now_ms
            handler.synced_until_ms = now_ms + self._sync_ms
            self._take_all(handler, received)
            return
        for packet in received:
            handler = self.handlers.get(link)
            if handler is None or self.ended is not None:
                return
            handler.heard_ms = now_ms
            self._take_in_turn(handler, packet, now_ms)

    def _take_in_turn(self, handler: LearnerHandler, packet: QuorumPacket, now_ms: int) -> None:
        match handler.stage:
            case Stage.ARRIVED:
                self._register(handler, packet, now_ms)
            case Stage.OFFERED:
                self._take_epoch_ack(handler, packet, now_ms)
            case Stage.SYNCING:
                self._take_newleader_ack(handler, packet, now_ms)
            case Stage.SYNCED | Stage.SERVING:
                self._take_all(handler, (packet,))
            case _:
                raise ProtocolError(f"server {handler.server_id} speaks out of turn")

    def closed(self, link: int) -> None:
        if self.handlers.pop(link, None):
            self._route()

    def drop(self, link: int, reason: str) -> None:
        """Part with one learner."""
        if handler := self.handlers.pop(link, None):
            self._effects.append(Close(link))
            self._effects.append(Tell(f"parts with server {handler.server_id}: {reason}"))
            self._route()

    # Discovery.

    def _register(self, handler: LearnerHandler, packet: QuorumPacket, now_ms: int) -> None:
        packets.expect(packet, PacketType.FOLLOWERINFO, PacketType.OBSERVERINFO)
        info = packets.read_learner_info(packet)
        if info.config_version > self._configuration.current.version:
            raise ProtocolError(f"server {info.server_id} has a later configuration")
        if epoch_of(packet.zxid) >= EPOCH_MAX:
            raise ProtocolError(f"server {info.server_id} leaves no epoch to choose")
        self._replace(info.server_id)
        handler.server_id = info.server_id
        handler.is_observer = packet.type == PacketType.OBSERVERINFO
        handler.enter(Stage.REGISTERED, now_ms)
        if self._accepted_mark is None:
            self.epoch = max(self.epoch, epoch_of(packet.zxid) + 1)
            self._registered.add(info.server_id)
            self._choose_epoch(now_ms)
        elif epoch_of(packet.zxid) > self.epoch and info.server_id in self._configuration.voters:
            # Another leader got so far with it and no further. It may not follow us any more, and
            # would stay outside for good, as it does with the original; a new epoch takes it in.
            self.ended = f"server {info.server_id} has accepted a newer epoch"
        elif self._is_durable(self._accepted_mark):
            self._offer(handler, now_ms)

    def _replace(self, server_id: int) -> None:
        for link in [it.link for it in self.handlers.values() if it.server_id == server_id]:
            self.drop(link, "it connected anew")

    def _choose_epoch(self, now_ms: int) -> None:
        """Once a quorum is here, no epoch that was promised to another can be this one."""
        if self._has_quorum(self._registered):
            self._accepted_mark = self._history.accept_epoch(self.epoch)
            self._deadline_ms = now_ms + self._timing.init_ms

    def _offer(self, handler: LearnerHandler, now_ms: int) -> None:
        self._send((handler.link,), packets.leader_info(self.epoch))
        handler.enter(Stage.OFFERED, now_ms)

    def _take_epoch_ack(self, handler: LearnerHandler, packet: QuorumPacket, now_ms: int) -> None:
        packets.expect(packet, PacketType.ACKEPOCH)
        current_epoch = EpochAck.decode(packets.data_of(packet)).current_epoch
        handler.peer_zxid = packet.zxid
        handler.enter(Stage.ACCEPTED, now_ms)
        if self.phase is not Phase.DISCOVERY:
            self._synchronise(handler, now_ms)
        elif current_epoch >= 0:  # Otherwise it accepted this epoch before, maybe another's.
            if (current_epoch, packet.zxid) > self._recency:
                raise ProtocolError(f"server {handler.server_id} is ahead of this leader")
            self._accepted.add(handler.server_id)
            self._choose_history(now_ms)

    def _choose_history(self, now_ms: int) -> None:
        """Nobody in a quorum has more than we have: all that was ever committed is here."""
        if self.phase is not Phase.DISCOVERY or not self._has_quorum(self._accepted):
            return
        self.phase = Phase.SYNCHRONIZATION
        self._deadline_ms = now_ms + self._timing.init_ms
        self._current_mark = self._history.enter_epoch(self.epoch)
        for handler in list(self.handlers.values()):
            if handler.stage is Stage.ACCEPTED:
                self._synchronise(handler, now_ms)

    # Synchronisation.

    def _synchronise(self, handler: LearnerHandler, now_ms: int) -> None:
        plan = plan_sync(handler.peer_zxid, self._committed(), self.last_processed)
        if plan is None:
            handler.enter(Stage.WAITING_FOR_LOG, now_ms)
            self._effects.append(ReadLog(handler.link, handler.peer_zxid))
        else:
            self._send_plan(handler, plan, now_ms)

    def log_read(self, link: int, logged: Sequence[Entry] | None, now_ms: int) -> None:
        """The log was read as asked; None if it is too long or does not reach back."""
        handler = self.handlers.get(link)
        if handler is None or handler.stage is not Stage.WAITING_FOR_LOG:
            return
        plan = snapshot_at(self.last_processed)
        if logged and logged[0].zxid <= handler.peer_zxid:
            args = handler.peer_zxid, self._committed(), self.last_processed
            plan = plan_sync_with_log(*args, logged)
        self._send_plan(handler, plan, now_ms)

    def _committed(self) -> list[Entry]:
        """The entries that can be sent as committed: until we serve, all that we brought along."""
        if self.phase is Phase.BROADCAST:
            return self._history.window.entries()
        return self._history.known()

    def _send_plan(self, handler: LearnerHandler, plan: Plan, now_ms: int) -> None:
        to, entries = (handler.link,), plan.entries
        if self._broadcast:
            self._broadcast.forget(handler.server_id)
        if plan.opening is PacketType.SNAP:
            entries = self._send_snapshot(handler)
        else:
            self._send(to, packets.packet(plan.opening, plan.zxid))
        for entry in entries:
            self._send(to, packets.proposal(entry))
            self._send(to, packets.commit(entry.zxid))
        if self.phase is Phase.BROADCAST and not handler.is_observer:
            for entry in self._history.tail:
                self._send(to, packets.proposal(entry))
        # Once we serve, a membership that is only proposed goes its own way like any proposal.
        is_serving = self.phase is Phase.BROADCAST
        members = self._configuration.current if is_serving else self._configuration.newest
        config = members.text.encode()
        self._send(to, packets.packet(PacketType.NEWLEADER, first_zxid(self.epoch), config))
        handler.peer_zxid = plan.through
        handler.enter(Stage.SYNCING, now_ms)
        self._route()
        way = f"{plan.opening.name} and {len(entries)} entries"
        self._effects.append(Tell(f"brings server {handler.server_id} up to date by {way}"))

    def _send_snapshot(self, handler: LearnerHandler) -> Sequence[Entry]:
        """Send the tree; return what is not in it, as it is not committed before we serve."""
        is_serving = self.phase is Phase.BROADCAST
        zxid = self.last_processed if is_serving else self._history.applied_zxid
        self._send((handler.link,), packets.packet(PacketType.SNAP, zxid))
        self._effects.append(SendSnapshot(handler.link, zxid))
        return () if is_serving else tuple(self._history.tail)

    def _take_newleader_ack(
        self, handler: LearnerHandler, packet: QuorumPacket, now_ms: int
    ) -> None:
        packets.expect(packet, PacketType.ACK)
        handler.acked_zxid = handler.peer_zxid
        handler.enter(Stage.SYNCED, now_ms)
        if self.phase is Phase.BROADCAST:
            self._let_serve(handler, now_ms)
        elif packet.zxid == first_zxid(self.epoch):
            self._synced.add(handler.server_id)
            self._establish(now_ms)

    def _establish(self, now_ms: int) -> None:
        """A quorum holds our history on disk: it can no longer be lost, so it is committed."""
        if self.phase is not Phase.SYNCHRONIZATION or not self._has_quorum(self._synced):
            return
        if now_ms >= self._deadline_ms:
            return  # We slept, and the quorum will not have waited for us.
        proposed = self._configuration.proposed
        if proposed and self._my_id not in proposed.voters:
            self._history.activate(proposed)
            self.ended = "the membership that it brought along has another leader"
            return
        self.phase = Phase.BROADCAST
        self._history.commit_through(self._history.last_zxid)
        zxid = first_zxid(self.epoch)
        self._broadcast = self.broadcast_type(self._my_id, self._history, zxid)
        if proposed:
            self._history.activate(proposed)
        self._ping_ms = now_ms + self._timing.tick_ms // 2
        self._check_ms = now_ms + self._timing.tick_ms
        self._effects.append(Serve(ServerState.LEADING, self._my_id, zxid, self.epoch))
        for handler in self.handlers.values():
            if handler.stage is Stage.SYNCED:
                self._let_serve(handler, now_ms)

    def _let_serve(self, handler: LearnerHandler, now_ms: int) -> None:
        assert self._broadcast is not None
        handler.excused_zxid = self._broadcast.last_proposed
        self._send((handler.link,), packets.packet(PacketType.UPTODATE, packets.NO_ZXID))
        handler.enter(Stage.SERVING, now_ms)

    # Broadcast.

    def propose(self, entry: Entry) -> None:
        """Send a write on its way. Zxids go on by one from where `Serve` said."""
        assert self._broadcast is not None
        if counter_of(entry.zxid) == COUNTER_MAX:
            self.ended = "no zxid is left in this epoch"
            return
        self._broadcast.propose(entry)
        if links := self._follower_links:
            self._effects.send(links, packets.proposal(entry))

    def sync(self, asker: int | None) -> None:
        """Answer this learner (None: ourselves) when all that is proposed so far is committed."""
        assert self._broadcast is not None
        self._answer_syncs(self._broadcast.sync(asker))

    def revalidated(self, link: int, session_id: int, is_valid: bool) -> None:
        if link in self.handlers:
            self._send((link,), packets.verdict(session_id, is_valid))

    def _take_all(self, handler: LearnerHandler, received: Sequence[QuorumPacket]) -> None:
        """Take what came together; acks that come one behind the other are counted as one."""
        first = last = packets.NO_ZXID
        for packet in received:
            zxid = packet.zxid
            if packet.type != ACK:
                self._take(handler, packet)
            elif zxid == last + 1:
                last = zxid
            else:
                self._take_acks(handler, first, last)
                first = last = zxid
        self._take_acks(handler, first, last)

    def _take(self, handler: LearnerHandler, packet: QuorumPacket) -> None:
        if packet.type == REQUEST:
            request = ForwardedRequest.decode(packets.data_of(packet))
            authinfo = tuple(packet.authinfo or ())
            self._effects.append(Decide(handler.link, handler.server_id, request, authinfo))
            return
        match packet.type:
            case PacketType.PING:
                if touches := decode_touches(packet.data or b""):
                    self._effects.append(TouchSessions(touches))
            case PacketType.REVALIDATE:
                touch = SessionTouch.decode(packets.data_of(packet))
                self._effects.append(Revalidate(handler.link, handler.server_id, touch))
            case _:
                raise ProtocolError(f"a learner sent a packet of type {packet.type}")

    def _take_acks(self, handler: LearnerHandler, first_zxid: int, last_zxid: int) -> None:
        if last_zxid < 0:
            return
        handler.acked(last_zxid)
        if self._broadcast is None or handler.is_observer:
            return
        # UPTODATE is acked with the zxid of the epoch, which is no proposal's.
        if committed := self._broadcast.ack(handler.server_id, first_zxid, last_zxid):
            self._announce(committed)

    def _announce(self, committed: Sequence[Entry]) -> None:
        """Tell everyone of commits; our own tree has them already."""
        assert self._broadcast is not None
        if not committed:
            return
        if self._broadcast.is_plain:
            commits = [packets.commit(it.zxid) for it in committed]
            self._effects.send_all(self._follower_links, commits)
            if self._observer_links:
                informs = [packets.inform(it) for it in committed]
                self._effects.send_all(self._observer_links, informs)
            return
        for entry in committed:
            if self._configuration.proposed and (membership := membership_in(entry.data)):
                self._announce_membership(entry, membership)
                continue
            self._send(self._follower_links, packets.commit(entry.zxid))
            self._send(self._observer_links, packets.inform(entry))
            self._answer_syncs(self._broadcast.take_syncs(entry.zxid))

    def _announce_membership(self, entry: Entry, membership: Membership) -> None:
        """Tell everyone to go over to it, under a leader that it knows; then go on."""
        assert self._broadcast is not None
        leader = self._activate(membership)
        data = DesignatedLeader(leader).encode()
        commit = packets.packet(PacketType.COMMITANDACTIVATE, entry.zxid, data)
        self._send(self._follower_links, commit)
        inform = packets.packet(PacketType.INFORMANDACTIVATE, entry.zxid, data + entry.data)
        self._send(self._observer_links, inform)
        self._answer_syncs(self._broadcast.take_syncs(entry.zxid))
        self._announce(self._broadcast.resume())

    def _activate(self, membership: Membership) -> int:
        """Put a membership in force; return who leads it. If that is not us, we commit no more."""
        assert self._broadcast is not None
        self._history.activate(membership)
        leader = designate(self._my_id, membership, self.handlers.values())
        self._broadcast.is_closed = leader != self._my_id
        return leader

    def is_synced(self, quorums: Quorums) -> bool:
        """Whether a quorum by this rule acks what we propose: only then it may be proposed."""
        learners = acking(self._configuration.current, self.handlers.values())
        return quorums.has_quorum({self._my_id, *learners})

    def _answer_syncs(self, askers: list[int | None]) -> None:
        for asker in askers:
            if asker is None:
                self._effects.append(Synced())
            elif asker in self.handlers:
                self._send((asker,), packets.packet(PacketType.SYNC, 0))

    # Disk and time.

    def durable(self, now_ms: int) -> None:
        """The disk came to the history's `durable_mark`."""
        if self._accepted_mark is not None and self._is_durable(self._accepted_mark):
            self._promised(now_ms)
        if self._current_mark is not None and self._is_durable(self._current_mark):
            self._synced.add(self._my_id)
            self._establish(now_ms)
        if self._broadcast:
            self._announce(self._broadcast.written(self._history.durable_mark))

    def _promised(self, now_ms: int) -> None:
        """We will follow no older epoch ourselves; now it can be offered to others."""
        for handler in list(self.handlers.values()):
            if handler.stage is Stage.REGISTERED:
                self._offer(handler, now_ms)
        if self.phase is Phase.DISCOVERY:
            self._accepted.add(self._my_id)
            self._choose_history(now_ms)

    def tick(self, now_ms: int) -> None:
        if self.phase is not Phase.BROADCAST:
            if now_ms >= self._deadline_ms:
                self.ended = f"no quorum came through {self.phase.value} in time"
            return
        assert self._broadcast is not None
        for handler in list(self.handlers.values()):
            handler.must_ack(self._broadcast.last_proposed, now_ms)
            if handler.is_late(self._timing, now_ms):
                self.drop(handler.link, "it is silent")
        if now_ms >= self._check_ms:
            self._check_ms = now_ms + self._timing.tick_ms
            self._check_quorum(now_ms)
        if now_ms >= self._ping_ms:
            self._ping_ms = now_ms + self._timing.tick_ms // 2
            self._ping()

    def _check_quorum(self, now_ms: int) -> None:
        heard = [it.server_id for it in self.handlers.values() if now_ms <= it.synced_until_ms]
        if not self._configuration.quorums.has_quorum({self._my_id, *heard}):
            self.ended = "it no longer hears from a quorum"

    def _ping(self) -> None:
        assert self._broadcast is not None
        links = tuple(it.link for it in self.handlers.values() if it.is_forwarded_to)
        self._send(links, packets.packet(PacketType.PING, self._broadcast.last_proposed))

    # The rest.

    def _send(self, links: Sequence[int], packet: QuorumPacket) -> None:
        if links:
            self._effects.send(links, packet)

    def _route(self) -> None:
        """See anew who gets what is broadcast."""
        forwarded = [it for it in self.handlers.values() if it.is_forwarded_to]
        self._follower_links = tuple(it.link for it in forwarded if not it.is_observer)
        self._observer_links = tuple(it.link for it in forwarded if it.is_observer)

    def _has_quorum(self, ids: set[int]) -> bool:
        """A leader counts on itself in every quorum."""
        return self._my_id in ids and self._configuration.quorums.has_quorum(ids)

    def _is_durable(self, mark: int) -> bool:
        return self._history.durable_mark >= mark
