"""FastLeaderElection: everyone tells everyone whom they would follow, until a quorum agrees.

A vote is better if its candidate's history is newer: by epoch, then zxid, then id. Who hears of a
better one adopts it and tells all. Rounds are counted by a logical clock; votes of older rounds do
not count, and a newer round is joined. Two sets are kept:

    votes     of this round, from servers that are looking or have found a leader in it
    outside   from servers that have a leader, whatever the round: who comes late joins them

An agreement becomes final if nothing better comes for a while. Those who agree are not waited for,
nor those at whose port nobody listens just now. A running leader is believed only
when it says itself that it leads. Nothing depends on a single notification: they are repeated
while one looks, ever more slowly, and who tells a worse vote than ours is told ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.wire.codes import ServerState
from odradek.zookeeper.wire.election import Notification
from odradek.zookeeper.zab.effects import Notify
from odradek.zookeeper.zab.history import History
from odradek.zookeeper.zab.quorum import read_membership
from odradek.zookeeper.zab.timing import Timing
from odradek.zookeeper.zab.vote import Vote

NOBODY = -(1 << 63)  # Whom a server proposes that has no vote.


class Election:
    """One server's part in all its elections."""

    def __init__(self, my_id: int, timing: Timing, history: History) -> None:
        self.clock = 0
        self.proposal = Vote(NOBODY, NOBODY, 0, NOBODY)
        self._my_id = my_id
        self._timing = timing
        self._history = history
        self._configuration = history.configuration
        self._votes: dict[int, Vote] = {}
        self._outside: dict[int, Vote] = {}
        self._gone_ms: dict[int, int] = {}  # When nobody listened at a server's port.
        self._timeout_ms = 0
        self._resend_ms = 0
        self._final_ms: int | None = None

    @property
    def has_vote(self) -> bool:
        return self._my_id in self._configuration.voters

    def look(self, now_ms: int) -> Vote | None:
        """Begin a round. Returns the outcome at once if no other server is needed."""
        self.clock += 1
        self._votes.clear()
        self._outside.clear()
        self._gone_ms.clear()
        self._timeout_ms = self._timing.notification_min_ms
        self._resend_ms = now_ms + self._timeout_ms
        self._propose(self._own_vote())
        return self._conclude(now_ms)

    def hear(self, server_id: int, notification: Notification, now_ms: int) -> Vote | None:
        """Take a notification while looking; return the outcome if this settles it."""
        self._gone_ms.pop(server_id, None)
        if self._learn_membership(notification.config):
            return self.look(now_ms)
        vote = Vote.of(notification)
        if not self._is_valid(server_id, vote):
            if server_id not in self._configuration.voters:
                self.answer(server_id, replace(self.proposal, election_epoch=self.clock))
            return None
        if vote.state is ServerState.LOOKING:
            return self._hear_looking(server_id, vote, now_ms)
        if vote.state is ServerState.OBSERVING:
            return None
        return self._hear_settled(server_id, vote)

    def gone(self, server_id: int, now_ms: int) -> Vote | None:
        """Nobody listens where this server should; return the outcome if only it was waited for."""
        self._gone_ms[server_id] = now_ms
        return self._conclude(now_ms) if self._final_ms is not None else None

    def appoint(self, leader: int) -> Vote:
        """The outcome that a change of membership brings along, without an election."""
        history = self._history
        self.proposal = Vote(leader, history.last_zxid, self.clock, history.current_epoch)
        return self.proposal

    def tick(self, now_ms: int) -> Vote | None:
        if self._final_ms is not None and now_ms >= self._final_ms:
            return replace(self.proposal, election_epoch=self.clock)
        if now_ms >= self._resend_ms:
            self._timeout_ms = min(2 * self._timeout_ms, self._timing.notification_max_ms)
            self._resend_ms = now_ms + self._timeout_ms
            self._notify_all()
        return None

    def answer(self, server_id: int, vote: Vote) -> None:
        """Tell one server a vote, with our state in it."""
        config = self._configuration.current.text
        notification = Notification(
            vote.state, vote.leader, vote.zxid, vote.election_epoch, vote.peer_epoch, config=config
        )
        self._history.effects.append(Notify(server_id, notification))

    def _learn_membership(self, config: str) -> bool:
        """Whether this is a newer one than ours, which then begins a new round."""
        if not config or config == self._configuration.current.text:
            return False
        try:
            return self._history.activate(read_membership(config))
        except ProtocolError:
            return False  # The vote is good, whatever is wrong with this.

    def _own_vote(self) -> Vote:
        if not self.has_vote:
            return Vote(NOBODY, NOBODY, self.clock, NOBODY)
        history = self._history
        return Vote(self._my_id, history.last_zxid, self.clock, history.current_epoch)

    def _is_valid(self, server_id: int, vote: Vote) -> bool:
        return server_id in self._configuration.voters and vote.leader in self._configuration.voters

    def _is_better(self, vote: Vote, than: Vote) -> bool:
        return bool(self._configuration.quorums.weight(vote.leader)) and vote.rank > than.rank

    def _propose(self, vote: Vote) -> None:
        self.proposal = vote
        self._final_ms = None
        if self.has_vote:
            self._votes[self._my_id] = vote
        self._notify_all()

    def _notify_all(self) -> None:
        for server_id in sorted(self._configuration.voters - {self._my_id}):
            self.answer(server_id, self.proposal)

    def _hear_looking(self, server_id: int, vote: Vote, now_ms: int) -> Vote | None:
        if vote.election_epoch < self.clock:
            if self.has_vote:
                self.answer(server_id, self.proposal)  # It lags behind; this brings it on.
            return None
        if vote.election_epoch > self.clock:
            self._join_round(vote)
        elif self._is_better(vote, self.proposal):
            self._propose(replace(vote, version=0))
        elif self._is_better(self.proposal, vote):
            # Maybe it was not there yet when we told everyone.
            self.answer(server_id, self.proposal)
        self._votes[server_id] = replace(vote, version=0)
        return self._conclude(now_ms)

    def _join_round(self, vote: Vote) -> None:
        self.clock = vote.election_epoch
        self._votes.clear()
        own = self._own_vote()
        self._propose(replace(vote, version=0) if self._is_better(vote, own) else own)

    def _conclude(self, now_ms: int) -> Vote | None:
        """See whether a quorum agrees with us, and whether a better vote may still come."""
        agreeing = self._agreeing(self._votes, self.proposal)
        if not self._configuration.quorums.has_quorum(agreeing):
            self._final_ms = None
            return None
        since_ms = now_ms - self._timing.finalize_ms
        gone = {server_id for server_id, at_ms in self._gone_ms.items() if at_ms > since_ms}
        if agreeing | gone >= self._configuration.voters:
            return self.proposal
        if self._final_ms is None:
            self._final_ms = now_ms + self._timing.finalize_ms
        return None

    def _hear_settled(self, server_id: int, vote: Vote) -> Vote | None:
        if vote.election_epoch == self.clock:
            self._votes[server_id] = replace(vote, version=0)
            if self._is_led(self._votes, vote):
                return vote
        self._outside[server_id] = vote
        if self._is_led(self._outside, vote):
            self.clock = vote.election_epoch
            return vote
        return None

    def _is_led(self, votes: Mapping[int, Vote], vote: Vote) -> bool:
        """Whether a quorum stands behind this vote's leader, and it knows.

        Here the membership in force will do: the leader may wait for us to agree upon the next.
        """
        quorums = self._configuration.current.quorums
        if not quorums.has_quorum(self._agreeing(votes, vote)):
            return False
        if vote.leader == self._my_id:
            return vote.election_epoch == self.clock
        leader = votes.get(vote.leader)
        return leader is not None and leader.state is ServerState.LEADING

    def _agreeing(self, votes: Mapping[int, Vote], vote: Vote) -> set[int]:
        return {server_id for server_id, other in votes.items() if vote.agrees_with(other)}
