"""A consumer that does what clients do with each answer, and a book of who owned what."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto

from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.join_group import JoinGroupResponse
from tests.kafka.coordinator.group_stage import SESSION_MS, START_MS, Stage

PARTITIONS = range(6)


@dataclass
class Ownership:
    """What everyone was told, by generation. Nothing may be told to two."""

    told: dict[int, dict[str, frozenset[int]]] = field(default_factory=dict)

    def tell(self, generation: int, owner: str, partitions: frozenset[int]) -> None:
        owners = self.told.setdefault(generation, {})
        assert owners.get(owner, partitions) == partitions, "one generation, two assignments"
        for other, taken in owners.items():
            assert other == owner or not taken & partitions, f"generation {generation} is shared"
        owners[owner] = partitions


class Phase(Enum):
    OFF = auto()
    JOINING = auto()
    SYNCING = auto()
    STABLE = auto()


@dataclass
class Consumer:
    """One process, static if it has an instance id."""

    name: str
    ownership: Ownership
    instance: str | None = None
    phase: Phase = Phase.OFF
    member_id: str = ""
    generation: int = -1
    waiting: int = -1
    owned: frozenset[int] = frozenset()
    may_be_unknown: bool = False  # After a crash of the coordinator, say.

    @property
    def identity(self) -> str:
        return self.instance or self.member_id

    def start(self, stage: Stage) -> None:
        self.member_id = ""
        self.join(stage)

    def join(self, stage: Stage) -> None:
        self.phase, self.owned = Phase.JOINING, frozenset()
        protocols = (("range", self.name.encode()),)
        self.waiting = stage.ask_join(self.member_id, instance=self.instance, protocols=protocols)

    def reconnect(self, stage: Stage) -> None:
        """The coordinator is another: what was asked of the old one is asked again."""
        self.may_be_unknown = True
        if self.phase in (Phase.JOINING, Phase.SYNCING):
            self.join(stage)

    def step(self, stage: Stage) -> None:
        """Take the next answer, or send a heartbeat."""
        if self.phase is Phase.STABLE:
            error = stage.heartbeat(self.member_id, self.generation, instance=self.instance)
            self.react(stage, error)
        elif self.phase is Phase.JOINING and self.waiting in stage.answers:
            self.take_join(stage, stage.joined(self.waiting))
        elif self.phase is Phase.SYNCING and self.waiting in stage.answers:
            self.take_sync(stage)

    def take_join(self, stage: Stage, answer: JoinGroupResponse) -> None:
        if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = answer.member_id
            self.join(stage)
        elif answer.error_code:
            self.react(stage, answer.error_code)
        else:
            self.member_id, self.generation = answer.member_id, answer.generation_id
            self.phase = Phase.SYNCING
            shares = {} if answer.skip_assignment else share_out(answer)
            args = self.member_id, self.generation, shares
            self.waiting = stage.ask_sync(*args, instance=self.instance)

    def take_sync(self, stage: Stage) -> None:
        answer = stage.synced(self.waiting)
        if answer.error_code:
            self.react(stage, answer.error_code)
            return
        self.phase, self.owned = Phase.STABLE, frozenset(answer.assignment)
        self.ownership.tell(self.generation, self.identity, self.owned)

    def react(self, stage: Stage, error: int) -> None:
        if error == ErrorCode.NONE:
            return
        if error == ErrorCode.FENCED_INSTANCE_ID:
            self.phase, self.owned = Phase.OFF, frozenset()
            return
        if error == ErrorCode.UNKNOWN_MEMBER_ID:
            in_time = stage.now_ms - START_MS < SESSION_MS
            assert self.may_be_unknown or not in_time, "unknown without a reason"
            self.member_id = ""
        self.join(stage)

    def leave(self, stage: Stage) -> None:
        if self.member_id:
            stage.leave((self.member_id, self.instance))
        self.vanish()

    def vanish(self) -> None:
        self.phase, self.owned, self.member_id = Phase.OFF, frozenset(), ""


def share_out(answer: JoinGroupResponse) -> dict[str, bytes]:
    """What a leader's assignor makes of the members it was shown."""
    ids = sorted(member.member_id for member in answer.members)
    return {each: bytes(PARTITIONS[number :: len(ids)]) for number, each in enumerate(ids)}
