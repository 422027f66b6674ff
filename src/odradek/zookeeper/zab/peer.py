"""One member of an ensemble: it looks for a leader, leads or learns, and looks again.

    LOOKING → LEADING | FOLLOWING | OBSERVING → LOOKING …

A role runs until it ends itself: a leader without a quorum, a learner without a leader. What is
promised to others is in the history, which all roles share and the disk holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.wire.codes import ServerState
from odradek.zookeeper.wire.election import Notification
from odradek.zookeeper.wire.messages.data import Id
from odradek.zookeeper.wire.messages.quorum import QuorumPacket
from odradek.zookeeper.wire.quorum import ForwardedRequest
from odradek.zookeeper.zab.effects import Close, Effect, Retire, Tell
from odradek.zookeeper.zab.election import Election
from odradek.zookeeper.zab.follower import Follower
from odradek.zookeeper.zab.history import History
from odradek.zookeeper.zab.leader import Leader, Phase
from odradek.zookeeper.zab.learner import Learner
from odradek.zookeeper.zab.observer import Observer
from odradek.zookeeper.zab.timing import Timing
from odradek.zookeeper.zab.vote import Vote
from odradek.zookeeper.zab.window import Entry

BROADCAST = Phase.BROADCAST


class Peer:
    """A server of an ensemble, without sockets, disk or clock."""

    leader_type: type[Leader] = Leader
    follower_type: type[Learner] = Follower
    observer_type: type[Learner] = Observer

    def __init__(self, my_id: int, timing: Timing, history: History) -> None:
        self.my_id = my_id
        self.history = history
        self.vote: Vote | None = None  # Whom we settled on, while not looking.
        self.leader: Leader | None = None
        self.learner: Learner | None = None
        self._timing = timing
        self._election = Election(my_id, timing, history)
        self._last_link = 0

    @property
    def state(self) -> ServerState:
        if self.leader:
            return ServerState.LEADING
        return self.learner.state if self.learner else ServerState.LOOKING

    @property
    def is_serving(self) -> bool:
        if self.leader:
            return self.leader.phase is Phase.BROADCAST
        return self.learner is not None and self.learner.is_serving

    @property
    def round(self) -> int:
        """Of the election that is under way, or was last."""
        return self._election.clock

    # The three verbs, and what else comes in.

    def start(self, now_ms: int) -> None:
        """Begin to look for a leader."""
        self._settle(self._election.look(now_ms), now_ms)

    def tick(self, now_ms: int) -> None:
        """Let time pass; to be called a few times in a tick of the ensemble, at least."""
        if self.leader:
            self.leader.tick(now_ms)
        elif self.learner:
            self.learner.tick(now_ms)
            self._connect(now_ms)
        else:
            self._settle(self._election.tick(now_ms), now_ms)
        self._end_role(now_ms)

    def take_effects(self) -> list[Effect]:
        """What is to be done now, in this order."""
        return self.history.effects.take()

    def hear(self, server_id: int, notification: Notification, now_ms: int) -> None:
        """A notification came on the election port."""
        if self.vote is None:
            self._settle(self._election.hear(server_id, notification, now_ms), now_ms)
        elif notification.state is ServerState.LOOKING or not self._may_vote(server_id):
            self._election.answer(server_id, self._settled_vote(self.vote))

    def gone(self, server_id: int, now_ms: int) -> None:
        """Nobody listens on the election port of this server."""
        if self.vote is None:
            self._settle(self._election.gone(server_id, now_ms), now_ms)

    def accept(self, now_ms: int) -> int | None:
        """A learner connected: the number of its link, or None if we do not lead."""
        if self.leader is None:
            return None
        self._last_link += 1
        self.leader.accept(self._last_link, now_ms)
        return self._last_link

    def connected(self, link: int, now_ms: int) -> None:
        """The leader is reached."""
        if self._is_ours(link) and self.learner:
            self.learner.connected(now_ms)

    def receive(self, link: int, received: Sequence[QuorumPacket], now_ms: int) -> None:
        """Packets came. What comes on links that were closed is dropped."""
        try:
            if self.leader:
                self.leader.receive(link, received, now_ms)
            elif self.learner and self._is_ours(link):
                self.learner.receive(received, now_ms)
        except ProtocolError as error:
            self._drop(link, str(error))
        self._end_role(now_ms)

    def snapshot_received(self, link: int, now_ms: int) -> None:
        """The snapshot that follows a SNAP packet has come, whole."""
        if self.learner and self._is_ours(link):
            self.learner.snapshot_received(now_ms)

    def heard(self, link: int, now_ms: int) -> None:
        """Bytes came that are no packet yet: part of a snapshot."""
        if self.learner and self._is_ours(link):
            self.learner.heard(now_ms)

    def closed(self, link: int, now_ms: int) -> None:
        """A connection broke, or could not be opened."""
        if self.leader:
            self.leader.closed(link)
        elif self.learner and self._is_ours(link):
            self.learner.closed(now_ms)
        self._end_role(now_ms)

    def log_read(self, link: int, logged: Sequence[Entry] | None, now_ms: int) -> None:
        """What `ReadLog` asked for; None if it is too much or the log begins later."""
        if self.leader:
            self.leader.log_read(link, logged, now_ms)

    def durable(self, mark: int, now_ms: int) -> None:
        """The disk holds all that was to be written up to this mark."""
        self.history.durable_mark = max(self.history.durable_mark, mark)
        if self.leader:
            self.leader.durable(now_ms)
        elif self.learner:
            self.learner.durable(now_ms)

    # What clients want. The shell may come with it when the role has just ended and `Retire` is
    # still among the effects that it is walking through: then nothing is done, as it will see.

    def propose(self, zxid: int, entry: bytes, now_ms: int) -> None:
        """A leader's write: decided, with the zxid after the last."""
        leader = self.leader
        if leader is not None and leader.phase is BROADCAST:
            leader.propose(Entry(zxid, entry))
            if leader.ended is not None:
                self._end_role(now_ms)

    def sync(self, link: int | None) -> None:
        """A leader's sync, for a learner (the link of `Decide`) or for a client of our own."""
        if self.leader and self.is_serving:
            self.leader.sync(link)

    def revalidated(self, link: int, session_id: int, is_valid: bool) -> None:
        """A leader's answer to `Revalidate`."""
        if self.leader:
            self.leader.revalidated(link, session_id, is_valid)

    def forward(self, request: ForwardedRequest, authinfo: Sequence[Id]) -> None:
        """A learner's write or sync, for the leader to decide."""
        if self.learner and self.learner.is_serving:
            self.learner.forward(request, authinfo)

    def revalidate(self, session_id: int, timeout_ms: int) -> None:
        """A learner's question about a session that moved here; the answer is `Revalidated`."""
        if self.learner and self.learner.is_serving:
            self.learner.revalidate(session_id, timeout_ms)

    def touch(self, session_id: int, timeout_ms: int) -> None:
        """A learner heard from a session; the leader learns of it with the next ping."""
        if self.learner:
            self.learner.touched[session_id] = timeout_ms

    # From role to role.

    def _settle(self, vote: Vote | None, now_ms: int) -> None:
        """Take the role that the election gave."""
        if vote is None:
            return
        self.vote = vote
        self.history.effects.append(Tell(f"elects {vote.leader} at {vote.zxid:#x}"))
        args = self._timing, self.history, now_ms
        if vote.leader == self.my_id:
            self.leader = self.leader_type(self.my_id, *args)
        else:
            observes = self.history.configuration.current.is_observer(self.my_id)
            role = self.observer_type if observes else self.follower_type
            self.learner = role(self.my_id, vote.leader, *args)
            self._connect(now_ms)

    def _connect(self, now_ms: int) -> None:
        if self.learner and self.learner.ended is None and self.learner.wants_link(now_ms):
            self._last_link += 1
            self.learner.connect(self._last_link)

    def _settled_vote(self, vote: Vote) -> Vote:
        """What we say to those who look: once they serve, all say the same (ZOOKEEPER-1732)."""
        role = self.leader or self.learner
        assert role is not None
        epoch = role.epoch if self.is_serving else vote.peer_epoch
        return replace(vote, state=self.state, peer_epoch=epoch)

    def _drop(self, link: int, reason: str) -> None:
        if self.leader:
            self.leader.drop(link, reason)
        elif self.learner:
            self.learner.drop(reason)

    def _end_role(self, now_ms: int) -> None:
        role = self.leader or self.learner
        if role is None or role.ended is None:
            return
        if self.leader:
            for link in sorted(self.leader.handlers):
                self.history.effects.append(Close(link))
        self.history.effects.append(Retire(role.ended))
        successor = self.learner.successor if self.learner else None
        self.leader = self.learner = self.vote = None
        if successor is None:
            self.start(now_ms)
        else:
            self._settle(self._election.appoint(successor), now_ms)

    def _is_ours(self, link: int) -> bool:
        return self.learner is not None and self.learner.link == link

    def _may_vote(self, server_id: int) -> bool:
        return server_id in self.history.configuration.voters
