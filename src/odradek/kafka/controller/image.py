"""The cluster as its controller sees it.

It is what ZooKeeper held when the controller last looked, plus all that the controller wrote since.
Nothing here decides: `decide` and its like read it, and what came of their decisions is put here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.schema import ZERO_UUID

if TYPE_CHECKING:
    from odradek.kafka.controller.registration import Registration

NO_LEADER = -1
NO_EPOCH = -1
BEING_DELETED = -2  # A leader, and a leader epoch, that say so.
RECOVERED, RECOVERING = 0, 1


class Assignment(NamedTuple):
    """Who holds replicas; during a reassignment, also who is to join and to leave."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()

    @property
    def is_being_reassigned(self) -> bool:
        return bool(self.adding or self.removing)

    @property
    def target(self) -> tuple[int, ...]:
        return without(self.replicas, self.removing)

    @property
    def origin(self) -> tuple[int, ...]:
        return without(self.replicas, self.adding)

    def reassigned_to(self, target: Iterable[int]) -> Assignment:
        """On the way from where it came from to this target; an earlier target is forgotten."""
        target = tuple(target)
        everyone = tuple(dict.fromkeys((*target, *self.origin)))
        return Assignment(everyone, without(everyone, self.origin), without(everyone, target))


@dataclass(frozen=True, slots=True)
class PartitionState:
    """Who leads a partition since when, and who is in sync."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    controller_epoch: int
    recovery: int = RECOVERED
    version: int = 0  # Of the znode's data, which is the partition epoch.

    def led_by(
        self, leader: int, isr: Iterable[int], recovery: int | None = None
    ) -> PartitionState:
        """With another leader or ISR. Readers fence on the epoch, so it grows even for the same."""
        return replace(
            self,
            leader=leader,
            leader_epoch=self.leader_epoch + 1,
            isr=tuple(isr),
            recovery=self.recovery if recovery is None else recovery,
        )

    def says_the_same(self, other: PartitionState) -> bool:
        """Whether the contents are equal, whenever they were written."""
        return replace(self, version=other.version) == other


class LiveBroker(NamedTuple):
    """A broker that is registered, and since which transaction."""

    registration: Registration
    epoch: int


@dataclass(slots=True)
class TopicEntry:
    """A topic's id and who holds its replicas."""

    id: bytes  # All zeros if it has none.
    partitions: dict[int, Assignment] = field(default_factory=dict)


@dataclass(slots=True)
class Deletion:
    """How far the deletion of one topic has come; a replica is a partition and a broker."""

    started: dict[tuple[int, int], None] = field(default_factory=dict)
    done: dict[tuple[int, int], None] = field(default_factory=dict)
    is_on_hold: bool = False


@dataclass(slots=True)
class Image:
    """All that the controller knows."""

    controller_id: int
    epoch: int
    epoch_version: int
    brokers: dict[int, LiveBroker] = field(default_factory=dict)
    missing: dict[int, LiveBroker] = field(default_factory=dict)  # Registered, but nobody is there.
    shutting_down: dict[int, None] = field(default_factory=dict)
    topics: dict[str, TopicEntry] = field(default_factory=dict)
    names: dict[bytes, str] = field(default_factory=dict)
    states: dict[TopicPartition, PartitionState] = field(default_factory=dict)
    deletions: dict[str, Deletion] = field(default_factory=dict)
    offline: dict[int, dict[TopicPartition, None]] = field(default_factory=dict)  # Failed disks.
    moving: dict[TopicPartition, None] = field(default_factory=dict)  # Being reassigned.
    _held: dict[int, dict[TopicPartition, None]] = field(default_factory=dict)

    def broker_ids(self) -> list[int]:
        """All that are registered, also those that are about to stop."""
        return sorted(self.brokers)

    def live_ids(self) -> list[int]:
        return [it for it in sorted(self.brokers) if it not in self.shutting_down]

    def partitions(self, topic: str) -> list[TopicPartition]:
        entry = self.topics.get(topic)
        return [] if entry is None else [TopicPartition(topic, it) for it in entry.partitions]

    def all_partitions(self) -> Iterator[TopicPartition]:
        for topic, entry in self.topics.items():
            for index in entry.partitions:
                yield TopicPartition(topic, index)

    def assignment(self, where: TopicPartition) -> Assignment | None:
        entry = self.topics.get(where.topic)
        return None if entry is None else entry.partitions.get(where.partition)

    def replicas(self, where: TopicPartition) -> tuple[int, ...]:
        found = self.assignment(where)
        return () if found is None else found.replicas

    def held_by(self, broker_id: int) -> list[TopicPartition]:
        """The partitions of which a broker is to have replicas."""
        return list(self._held.get(broker_id, ()))

    def topic_id(self, topic: str) -> bytes:
        entry = self.topics.get(topic)
        return ZERO_UUID if entry is None else entry.id

    def is_online(
        self, broker_id: int, where: TopicPartition, *, even_if_shutting_down: bool = False
    ) -> bool:
        """Whether a broker can serve its replica."""
        if broker_id not in self.brokers or where in self.offline.get(broker_id, ()):
            return False
        return even_if_shutting_down or broker_id not in self.shutting_down

    def is_being_deleted(self, topic: str) -> bool:
        return topic in self.deletions

    def has_leader(self, where: TopicPartition) -> bool:
        """Whether somebody leads who is there to do so."""
        state = self.states.get(where)
        return state is not None and self.is_online(state.leader, where, even_if_shutting_down=True)

    def leader_epoch(self, where: TopicPartition) -> int:
        """As a broker that must stop a replica is told it."""
        if self.is_being_deleted(where.topic):
            return BEING_DELETED
        state = self.states.get(where)
        return NO_EPOCH if state is None else state.leader_epoch

    def put_topic(
        self, topic: str, topic_id: bytes, partitions: Mapping[int, Assignment]
    ) -> list[TopicPartition]:
        """Take a topic, or more partitions of one; which partitions are new."""
        entry = self.topics.setdefault(topic, TopicEntry(topic_id))
        entry.id = topic_id
        if topic_id != ZERO_UUID:
            self.names[topic_id] = topic
        fresh = [TopicPartition(topic, it) for it in partitions if it not in entry.partitions]
        for where in fresh:
            self.put_assignment(where, partitions[where.partition])
        return fresh

    def put_assignment(self, where: TopicPartition, assignment: Assignment) -> None:
        entry = self.topics[where.topic]
        for broker_id in self.replicas(where):
            self._held[broker_id].pop(where, None)
        entry.partitions[where.partition] = assignment
        self.moving.pop(where, None)
        if assignment.is_being_reassigned:
            self.moving[where] = None
        for broker_id in assignment.replicas:
            self._held.setdefault(broker_id, {})[where] = None

    def remove_topic(self, topic: str) -> None:
        """Forget a topic that is gone."""
        for where in self.partitions(topic):
            for broker_id in self.replicas(where):
                self._held[broker_id].pop(where, None)
            self.states.pop(where, None)
            self.moving.pop(where, None)
            for failed in self.offline.values():
                failed.pop(where, None)
        entry = self.topics.pop(topic, None)
        if entry is not None:
            self.names.pop(entry.id, None)
        self.deletions.pop(topic, None)


def without(ids: Iterable[int], others: Iterable[int]) -> tuple[int, ...]:
    gone = frozenset(others)
    return tuple(it for it in ids if it not in gone)
