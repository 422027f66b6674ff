"""One group: its members, its generation, and the state that it is in.

Empty ──► PreparingRebalance ──► CompletingRebalance ──► Stable; from each of these back to
PreparingRebalance when members come, go or change their mind, and to Empty when the last has
gone. A Dead group is on its way out: its tombstone is being written.

These are facts and their changes. Who may cause them is decided elsewhere.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum

from odradek.kafka.coordinator.group_deadlines import Deadline, Kind
from odradek.kafka.coordinator.group_subscriptions import CONSUMER, subscribed_topics
from odradek.kafka.coordinator.members import Member, Protocols
from odradek.kafka.coordinator.offsets import Offsets


class State(Enum):
    """A group's state, by the name that clients see."""

    EMPTY = "Empty"
    PREPARING = "PreparingRebalance"
    COMPLETING = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


CAN_REBALANCE = frozenset({State.EMPTY, State.COMPLETING, State.STABLE})


@dataclass(slots=True, eq=False)
class Group:
    """A classic group, or one that is only a name for offsets."""

    group_id: str
    state_since_ms: int | None  # None where an old broker did not write it down.
    state: State = State.EMPTY
    protocol_type: str | None = None
    protocol: str | None = None
    generation_id: int = 0
    leader_id: str | None = None
    members: dict[str, Member] = field(default_factory=dict)
    static: dict[str, str] = field(default_factory=dict)  # Member ids by instance id.
    pending: dict[str, Deadline] = field(default_factory=dict)  # Ids given out, not yet used.
    unsynced: dict[str, None] = field(default_factory=dict)  # Who has yet to ask what it got.
    supporters: Counter[str] = field(default_factory=Counter)  # Members by protocol.
    joining_count: int = 0
    topics: frozenset[str] | None = None  # Subscribed ones; None if that is not known.
    has_newcomers: bool = False
    delay_ms: int = 0  # The initial delay that is running, and what may follow it.
    delay_left_ms: int = 0
    storing_generation: int | None = None  # Whose assignment is on its way to the log.
    offsets: Offsets = field(default_factory=Offsets)
    join_deadline: Deadline = field(init=False)
    sync_deadline: Deadline = field(init=False)

    def __post_init__(self) -> None:
        self.join_deadline = Deadline(Kind.JOIN, self.group_id)
        self.sync_deadline = Deadline(Kind.SYNC, self.group_id)

    def enter(self, state: State, now_ms: int) -> None:
        self.state = state
        self.state_since_ms = now_ms

    @property
    def has_all_joined(self) -> bool:
        return self.joining_count == len(self.members) and not self.pending

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest that any member wants to be waited for."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def supports(self, protocol_type: str, protocols: Protocols) -> bool:
        """Whether someone who speaks these can be a member beside those that are."""
        if self.state is State.EMPTY:
            return bool(protocol_type and protocols)
        size = len(self.members)
        return protocol_type == self.protocol_type and any(
            self.supporters[name] == size for name, _ in protocols
        )

    def add(self, member: Member) -> None:
        if member.instance_id is not None:
            assert member.instance_id not in self.static
            self.static[member.instance_id] = member.member_id
        if self.leader_id is None:
            self.leader_id = member.member_id
        self.members[member.member_id] = member
        self.supporters.update(member.protocol_names())
        self.joining_count += member.joining is not None

    def remove(self, member: Member) -> None:
        del self.members[member.member_id]
        self._lose_support(member)
        self.joining_count -= member.joining is not None
        self.unsynced.pop(member.member_id, None)
        if member.instance_id is not None:
            del self.static[member.instance_id]
        if self.leader_id == member.member_id:
            self.leader_id = next(iter(self.members), None)

    def rename(self, member: Member, member_id: str) -> None:
        """Let a static member go on under another member id."""
        assert member.instance_id is not None
        old_id = member.member_id
        del self.members[old_id]
        self.members[member_id] = member
        member.member_id = member.session.member_id = member_id
        self.static[member.instance_id] = member_id
        if self.leader_id == old_id:
            self.leader_id = member_id
        if old_id in self.unsynced:
            del self.unsynced[old_id]
            self.unsynced[member_id] = None

    def update(
        self, member: Member, protocols: Protocols, rebalance_timeout_ms: int, session_ms: int
    ) -> None:
        """Take what a member says about itself now."""
        self._lose_support(member)
        member.protocols = protocols
        self.supporters.update(member.protocol_names())
        member.rebalance_timeout_ms = rebalance_timeout_ms
        member.session_timeout_ms = session_ms

    def _lose_support(self, member: Member) -> None:
        for name in member.protocol_names():
            self.supporters[name] -= 1
            if not self.supporters[name]:
                del self.supporters[name]

    def elect_leader(self) -> bool:
        """See to it that the leader is one who has joined. False if nobody has."""
        if self.leader_id is not None and self.members[self.leader_id].joining:
            return True
        joined = (member for member in self.members.values() if member.joining)
        leader = next(joined, None)
        if leader is not None:
            self.leader_id = leader.member_id
        return leader is not None

    def select_protocol(self) -> str:
        """What most members like best of what all support; the older members' word at a tie."""
        size = len(self.members)
        candidates = {name for name, count in self.supporters.items() if count == size}
        votes = Counter(member.vote(candidates) for member in self.members.values())
        return votes.most_common(1)[0][0]

    def next_generation(self, now_ms: int) -> None:
        self.generation_id += 1
        self.protocol = self.select_protocol() if self.members else None
        self.topics = self.subscribed_topics()
        self.unsynced.clear()
        self.has_newcomers = False
        self.enter(State.COMPLETING if self.members else State.EMPTY, now_ms)

    def subscribed_topics(self) -> frozenset[str] | None:
        """The topics of all members, if this is a group of consumers and they can be read."""
        if self.protocol_type != CONSUMER:
            return None
        if not self.members:
            return frozenset()
        if self.protocol is None:
            return None
        return subscribed_topics(m.metadata(self.protocol) for m in self.members.values())

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether members may read a topic; when in doubt, they do."""
        return self.topics is None or topic in self.topics
