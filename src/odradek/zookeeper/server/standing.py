"""A member's place in its ensemble, as operators see it. Nothing is kept: all is looked up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from odradek.zookeeper.server.member import Member
from odradek.zookeeper.server.stats import Sizes
from odradek.zookeeper.settings.members import Role
from odradek.zookeeper.wire.codes import ServerState
from odradek.zookeeper.zab.learner import Step
from odradek.zookeeper.zab.learner_handler import LearnerHandler

# All that `gauges` may give.
LED_GAUGES = (
    "quorum_size",
    "learners",
    "synced_followers",
    "synced_non_voting_followers",
    "synced_observers",
    "pending_syncs",
    "leader_uptime",
    "last_proposal_size",
    "max_proposal_size",
    "min_proposal_size",
)
READ_ONLY = "read-only"
MODES = {
    ServerState.LEADING: "leader",
    ServerState.FOLLOWING: "follower",
    ServerState.OBSERVING: "observer",
}


@dataclass(slots=True)
class Standing:
    """What can be asked of a member."""

    member: Member

    @property
    def mode(self) -> str:
        if self.member.replica.clients.is_read_only:
            return READ_ONLY
        return MODES.get(self.member.replica.state, "looking")

    @property
    def is_serving(self) -> bool:
        replica = self.member.replica
        return replica.state is not ServerState.LOOKING or replica.clients.is_read_only

    @property
    def is_leader(self) -> bool:
        return self.member.replica.is_leading

    @property
    def leader_id(self) -> int:
        vote = self.member.peer.vote
        return vote.leader if vote else -1

    @property
    def leader_host(self) -> str:
        leader = self.member.membership.members.get(self.leader_id)
        return leader.endpoints[0].host if leader else ""

    @property
    def phase(self) -> str:
        """Of Zab, by the names that monitors know."""
        peer = self.member.peer
        if peer.leader:
            return peer.leader.phase.value
        if peer.learner is None:
            return "election"
        if peer.learner.step is Step.SERVING:
            return "broadcast"
        return "discovery" if peer.learner.step <= Step.ACCEPTED else "synchronization"

    @property
    def peer_state(self) -> str:
        return f"{self.member.peer.state.name.lower()} - {self.phase}"

    @property
    def is_voter(self) -> bool:
        return self.member.peer.my_id in self.member.membership.voters

    @property
    def quorum_size(self) -> int:
        return len(self.member.membership.voters)

    @property
    def proposal_sizes(self) -> Sizes:
        return self.member.replica.proposal_sizes

    def gauges(self) -> Iterator[tuple[str, int]]:
        """What only members count; most of it only while they lead."""
        yield "quorum_size", self.quorum_size
        leader = self.member.peer.leader
        if leader is None or not self.is_leader:
            return
        handlers = leader.handlers.values()
        synced = [it for it in handlers if it.is_forwarded_to]
        yield "learners", len(handlers)
        yield "synced_followers", sum(self._is_voting(it) for it in synced)
        yield "synced_non_voting_followers", sum(self._is_idle(it) for it in synced)
        yield "synced_observers", self.synced_observer_count
        yield "pending_syncs", leader.pending_sync_count
        yield "leader_uptime", self.member.now_ms() - self.member.serving_since_ms
        yield "last_proposal_size", self.proposal_sizes.last
        yield "max_proposal_size", self.proposal_sizes.most
        yield "min_proposal_size", self.proposal_sizes.least

    def counters(self) -> Iterator[tuple[str, int]]:
        """What happened since the start."""
        replica = self.member.replica
        yield "commit_count", replica.commit_count
        yield "proposal_count", replica.proposal_count
        yield "looking_count", self.member.looking_count

    @property
    def synced_observer_count(self) -> int:
        leader = self.member.peer.leader
        if leader is None:
            return 0
        return sum(it.is_observer and it.is_forwarded_to for it in leader.handlers.values())

    def _is_voting(self, handler: LearnerHandler) -> bool:
        return not handler.is_observer and handler.server_id in self.member.membership.voters

    def _is_idle(self, handler: LearnerHandler) -> bool:
        return not handler.is_observer and not self._is_voting(handler)

    def configuration(self) -> Iterator[str]:
        """The lines that `conf` adds for a member."""
        settings, membership = self.member.timing, self.member.membership
        me = membership.members.get(self.member.peer.my_id)
        yield f"initLimit={settings.init_limit}"
        yield f"syncLimit={settings.sync_limit}"
        yield "electionAlg=3"
        if me is not None:
            yield f"electionPort={'|'.join(str(it.election_port) for it in me.endpoints)}"
            yield f"quorumPort={'|'.join(str(it.quorum_port) for it in me.endpoints)}"
            yield f"peerType={int(me.role is Role.OBSERVER)}"
        yield "membership: "
        yield from membership.text.splitlines()
