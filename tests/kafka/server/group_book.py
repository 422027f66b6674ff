"""What the members of a simulated group were told and did; it says what must not be.

In a generation a partition has one owner. What was committed is never fetched as less, nor may one
of an earlier generation commit after another has been told a later one. Who begins at an offset
finds all before it read by somebody, and an offset has one content for all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tests.kafka.server.witness import Violation


class Question(NamedTuple):
    """What was known when something was asked: an answer may know more, but not less."""

    generation: int
    committed: dict[int, int]


class GroupBook:
    """Of one group that reads one topic."""

    def __init__(self) -> None:
        self.generation = -1  # The latest that anybody was told.
        self.owners: dict[int, dict[int, str]] = {}  # Of each partition, by generation.
        self.kept_back: dict[int, set[int]] = {}  # What is to be nobody's, by generation.
        self.shared_among: dict[int, set[str]] = {}  # Ids of members, by generation.
        self.committed: dict[int, int] = {}  # Acknowledged, or fetched: by partition.
        self.read: dict[int, list[bytes | None]] = {}  # Each partition from offset 0 on.
        self.counts: Counter[str] = Counter()  # How often what happened: a test looks for it.

    def ask(self) -> Question:
        return Question(self.generation, dict(self.committed))

    def shared(self, generation: int, partitions: int, shares: Mapping[str, Iterable[int]]) -> None:
        """A leader has shared out a topic of so many partitions."""
        given = {partition for share in shares.values() for partition in share}
        self.kept_back[generation] = set(range(partitions)) - given
        self.shared_among[generation] = set(shares)

    def assigned(self, generation: int, owner: str, partitions: Iterable[int]) -> None:
        """Somebody was told what to own."""
        self.counts["assignments"] += 1
        self.generation = max(self.generation, generation)
        owners = self.owners.setdefault(generation, {})
        for partition in partitions:
            known = owners.setdefault(partition, owner)
            if known != owner:
                text = f"{partition} is owned by {known} and by {owner}"
                raise Violation(f"generation {generation}: {text}")

    def acknowledged(self, question: Question, generation: int, offsets: Mapping[int, int]) -> None:
        """A commit of a generation was accepted."""
        self.counts["commits"] += 1
        if generation < question.generation:
            text = f"generation {generation} commits when {question.generation} is known"
            raise Violation(text)
        for partition, offset in offsets.items():
            if offset < question.committed.get(partition, 0):
                was = question.committed[partition]
                raise Violation(f"the offset of {partition} goes back from {was} to {offset}")
            self.committed[partition] = max(offset, self.committed.get(partition, 0))

    def fetched(self, question: Question, partition: int, offset: int) -> None:
        """Somebody asked for what is committed, and begins there."""
        if offset < question.committed.get(partition, 0):
            was = question.committed[partition]
            raise Violation(f"{was} was committed of {partition}, {offset} is fetched")
        if offset > len(self.read.get(partition, ())):
            raise Violation(f"{partition} begins at {offset}, and nobody has read what is before")
        if offset > self.committed.get(partition, 0):
            # Who committed it never heard so, but it must not be forgotten from now on.
            self.committed[partition] = offset

    def consumed(self, partition: int, offset: int, value: bytes | None) -> None:
        read = self.read.setdefault(partition, [])
        if offset > len(read):
            raise Violation(f"{partition}: {len(read)} is skipped, {offset} is next")
        if offset == len(read):
            read.append(value)
        elif read[offset] != value:
            raise Violation(f"{partition}: {offset} was {read[offset]!r}, now is {value!r}")
        else:
            self.counts["read again"] += 1

    def reset(self, offsets: Mapping[int, int]) -> None:
        """Somebody has set the offsets back on purpose."""
        self.committed |= offsets
