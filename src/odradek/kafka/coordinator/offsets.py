"""The offsets of one group: committed, on their way to the log, and held by transactions.

An offset counts by where its record lies in the log, so a transaction that commits late does not
undo what was committed after its records were written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from odradek.kafka.storage.names import TopicPartition


class CommittedOffset(NamedTuple):
    """What a consumer said about one partition."""

    offset: int
    leader_epoch: int  # -1 if it did not say.
    metadata: str
    commit_timestamp_ms: int
    expire_timestamp_ms: int = -1  # Clients older than 2.1 may set it themselves.


class Logged(NamedTuple):
    """An offset, and the first offset of the batch that holds it."""

    committed: CommittedOffset
    batch_offset: int


Commits = Mapping[TopicPartition, CommittedOffset]


@dataclass(slots=True)
class Offsets:
    """All that is known of one group's offsets."""

    logged: dict[TopicPartition, CommittedOffset] = field(default_factory=dict)
    batches: dict[TopicPartition, int] = field(default_factory=dict)  # Which one holds each.
    in_flight: dict[int, Commits] = field(default_factory=dict)  # Appends on their way, by number.
    transactional: dict[int, dict[TopicPartition, Logged]] = field(default_factory=dict)
    newest: int = -1  # The batch that spoke last, by its first offset.

    def __bool__(self) -> bool:
        return bool(self.logged or self.in_flight or self.transactional)

    def get(self, partition: TopicPartition) -> CommittedOffset | None:
        return self.logged.get(partition)

    def is_unstable(self, partition: TopicPartition) -> bool:
        """Whether another offset may take its place without a new request."""
        return self.is_in_flight(partition) or any(
            partition in held for held in self.transactional.values()
        )

    def is_in_flight(self, partition: TopicPartition) -> bool:
        return any(partition in sent for sent in self.in_flight.values())

    def send(self, commits: Commits, number: int) -> None:
        """Note that an append with these offsets is on its way."""
        self.in_flight[number] = commits

    def arrive(self, number: int) -> None:
        """Note that the append has come to its end, good or bad."""
        del self.in_flight[number]

    def put(self, partition: TopicPartition, logged: Logged) -> None:
        """Take an offset over, unless a later record has said otherwise."""
        self.put_all({partition: logged.committed}, logged.batch_offset)

    def put_all(self, commits: Commits, batch_offset: int) -> None:
        """Take over what one batch says."""
        if batch_offset > self.newest:  # Nearly always: no other has spoken of them since.
            self.newest = batch_offset
            self.logged.update(commits)
            self.batches.update(dict.fromkeys(commits, batch_offset))
            return
        for partition, committed in commits.items():
            if self.batches.get(partition, -1) < batch_offset:
                self.logged[partition] = committed
                self.batches[partition] = batch_offset

    def hold(self, producer_id: int, partition: TopicPartition, logged: Logged) -> None:
        """Keep an offset until its transaction ends."""
        self.transactional.setdefault(producer_id, {})[partition] = logged

    def let_go(self, producer_id: int, partition: TopicPartition) -> None:
        """Forget an offset of an open transaction."""
        held = self.transactional.get(producer_id, {})
        held.pop(partition, None)
        if not held:
            self.transactional.pop(producer_id, None)

    def end_transaction(self, producer_id: int, is_commit: bool) -> None:
        held = self.transactional.pop(producer_id, {})
        if is_commit:
            for partition, logged in held.items():
                self.put(partition, logged)

    def remove(self, partition: TopicPartition, tombstone_offset: int) -> None:
        """Forget what was committed before a tombstone."""
        if self.batches.get(partition, tombstone_offset) < tombstone_offset:
            del self.logged[partition], self.batches[partition]

    def erasable(self) -> Iterable[TopicPartition]:
        """Every partition that has, or is about to have, an offset outside of transactions."""
        sent = (partition for commits in self.in_flight.values() for partition in commits)
        return dict.fromkeys((*self.logged, *sent))
