"""What simulated copiers did in their transactions, and readers saw; it says what must not be.

Readers of what is committed see each copy once, in the order of what was copied, whenever they
look. Who was succeeded by another of its name is accepted nowhere any more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tests.kafka.server.witness import Violation

Identity = tuple[int, int]  # A producer id and its epoch.
NOBODY: Identity = (-1, -1)


class CopyBook:
    """Of one transactional id, under which `sent` is copied, by partition."""

    def __init__(self, sent: Sequence[Sequence[bytes]]) -> None:
        self.sent = sent
        self.latest = NOBODY  # The latest identity that anybody was given.
        self.tags: set[bytes] = set()  # Of transactions whose commit was acknowledged.
        self.aborted: set[bytes] = set()  # Of those whose abort was.
        self.counts: Counter[str] = Counter()  # How often what happened: a test looks for it.

    def given(self, identity: Identity) -> None:
        self.counts["identities"] += 1
        self.latest = max(self.latest, identity)

    def accepted(self, what: str, identity: Identity, latest: Identity) -> None:
        """Something was accepted that was asked when `latest` was the latest identity."""
        if identity < latest:
            raise Violation(f"{what} of {identity} is accepted when {latest} is known")

    def ended(self, tag: bytes, *, is_commit: bool) -> None:
        self.counts["commits" if is_commit else "aborts"] += 1
        (self.tags if is_commit else self.aborted).add(tag)

    def check_copies(self, partition: int, values: Sequence[bytes | None]) -> None:
        """What a reader has seen so far is what was to be copied, from the start."""
        wanted = self.sent[partition][: len(values)]
        if list(values) != wanted:
            number = next(
                (
                    it
                    for it, pair in enumerate(zip(values, wanted, strict=False))
                    if len(set(pair)) > 1
                ),
                len(wanted),
            )
            raise Violation(f"copy {number} of {partition} is {values[number]!r}")

    def check_tags(self, tags: Sequence[bytes | None]) -> None:
        """A tag is written by each transaction: it is there if and only if that was committed."""
        found = set(tags)
        if len(found) < len(tags):
            raise Violation("a transaction was committed twice")
        if lost := self.tags - found:
            raise Violation(f"committed and not to be seen: {sorted(lost)}")
        if back := self.aborted & found:
            raise Violation(f"aborted and to be seen: {sorted(back)}")
