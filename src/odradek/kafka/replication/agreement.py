"""Up to where two logs of one partition on one broker are the same.

What was written in one epoch of a leader is the same wherever it is found. So two logs agree up to
the end, in whichever has less of it, of the latest epoch that both have; whatever either has
behind that may differ, and must not be compared by offsets alone.
"""

from __future__ import annotations

from typing import Protocol

from odradek.kafka.replication.extent import Extent

Starts = tuple[tuple[int, int], ...]  # Epochs, each with the offset at which it begins.


class Epochs(Protocol):
    @property
    def starts(self) -> Starts: ...


class Lineage(Extent, Protocol):
    """A log, as far as it is compared."""

    @property
    def epochs(self) -> Epochs: ...


def agreed_end(one: Lineage, other: Lineage) -> int:
    """The offset before which both have the same; the first's start if there is no such."""
    ends = epoch_ends(other)
    if not ends and not one.epochs.starts:
        # Of formats without epochs nothing tells more than what was committed.
        return min(one.high_watermark, other.high_watermark)
    for epoch, end_offset in reversed(epoch_ends(one).items()):
        if epoch in ends:
            return max(one.start_offset, min(end_offset, ends[epoch]))
    return one.start_offset


def epoch_ends(log: Lineage) -> dict[int, int]:
    """Where each epoch ends, the oldest first."""
    starts = log.epochs.starts
    ends = [*(start for _, start in starts[1:]), log.end_offset]
    return {epoch: end for (epoch, _), end in zip(starts, ends, strict=True)} if starts else {}
