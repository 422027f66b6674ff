"""Files as a device keeps them: bytes in memory, and how many of them are really on the platter.

Every change since the last sync is kept with what it replaced. A loss of power takes all of them
back and then lets each come true again: whole, in part, or not at all, in any combination, as a
kernel that writes back pages in its own order would. A length may come true without its bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from random import Random

SECTOR_BYTES = 512
DOOMED_SURVIVES = 1 / 8


class Fate(Enum):
    """What the power may do to a change."""

    DIRTY = "only memory holds it"
    DOOMED = "its sync failed, so nobody will ever write it"
    DURABLE = "the device holds it"


@dataclass(slots=True)
class Change:
    """Bytes and a length, before and after."""

    at_ns: int
    position: int
    before: bytes
    after: bytes
    size_before: int
    size_after: int
    fate: Fate = Fate.DIRTY


class Inode:
    """A file without its name. Zeros at the end cost nothing, however many."""

    __slots__ = ("_bytes", "_changes", "is_cached", "is_linked", "modified_ms", "size")

    def __init__(self) -> None:
        self.size = 0
        self.modified_ms = 0
        self.is_linked = True
        self.is_cached = True  # Reading it does not wait for the device.
        self._bytes = bytearray()  # Up to the last byte that was written.
        self._changes: list[Change] = []

    @property
    def is_dirty(self) -> bool:
        """Whether a loss of power could change it."""
        return bool(self._changes)

    def read(self, position: int, count: int) -> bytes:
        end = min(position + count, self.size)
        found = bytes(self._bytes[position:end])
        return found + bytes(max(0, end - position - len(found)))

    def write(self, position: int, data: bytes, at_ns: int) -> None:
        before = self.read(position, len(data))
        size_after = max(self.size, position + len(data))
        self._make(Change(at_ns, position, before, data, self.size, size_after))

    def resize(self, size: int, at_ns: int) -> None:
        before = self.read(size, self.size - size)
        self._make(Change(at_ns, size, before, b"", self.size, size))

    def flip_bit(self, position: int, bit: int) -> None:
        """Let the device forget what it knew."""
        self._put(position, bytes([self.read(position, 1)[0] ^ 1 << bit]))

    def sync(self) -> None:
        for change in self._changes:
            if change.fate is Fate.DIRTY:
                change.fate = Fate.DURABLE
        self._forget_durable()

    def fail_sync(self) -> None:
        """Drop what was to be written, as Linux does: the next sync has nothing to complain of."""
        for change in self._changes:
            if change.fate is Fate.DIRTY:
                change.fate = Fate.DOOMED

    def write_back(self, until_ns: int) -> None:
        """Make durable what has waited in memory since before that time."""
        for change in self._changes:
            if change.at_ns >= until_ns:
                break
            if change.fate is Fate.DIRTY:
                change.fate = Fate.DURABLE
        self._forget_durable()

    def crash(self, random: Random) -> None:
        """Lose power."""
        for change in reversed(self._changes):
            self._set_size(change.size_before)
            self._put(change.position, change.before)
        for change in self._changes:
            self._survive(change, random)
        self._changes.clear()
        self.is_cached = False

    def _make(self, change: Change) -> None:
        self._changes.append(change)
        self._set_size(change.size_after)
        self._put(change.position, change.after)

    def _survive(self, change: Change, random: Random) -> None:
        is_whole = change.fate is Fate.DURABLE or survives_whole(change, random)
        if is_whole:
            # A later end may have survived already, unless it was this change that cut it off.
            is_cut = change.size_after < change.size_before
            self._set_size(change.size_after if is_cut else max(self.size, change.size_after))
            self._put(change.position, change.after)
            return
        for start, end in torn(change, random):
            self._set_size(max(self.size, change.position + end))
            self._put(change.position + start, change.after[start:end])
        if change.size_after > self.size and random.random() < 0.5:
            self._set_size(change.size_after)

    def _set_size(self, size: int) -> None:
        del self._bytes[size:]
        self.size = size

    def _put(self, position: int, data: bytes) -> None:
        if data:
            if position > len(self._bytes):
                self._bytes += bytes(position - len(self._bytes))
            self._bytes[position : position + len(data)] = data

    def _forget_durable(self) -> None:
        """What is durable need not be taken back, unless something before it must be."""
        count = 0
        while count < len(self._changes) and self._changes[count].fate is Fate.DURABLE:
            count += 1
        del self._changes[:count]


def survives_whole(change: Change, random: Random) -> bool:
    chance = DOOMED_SURVIVES if change.fate is Fate.DOOMED else 1 / 3
    return random.random() < chance


def torn(change: Change, random: Random) -> Iterator[tuple[int, int]]:
    """The parts of a lost change that were written nonetheless: none, a start, or some sectors."""
    count = len(change.after)
    kind = random.choice(("none", "start", "sectors"))
    if change.fate is Fate.DOOMED or kind == "none":
        return
    if kind == "start":
        yield 0, random.randint(0, count)
        return
    first = -change.position % SECTOR_BYTES
    borders = [0, *range(first or SECTOR_BYTES, count, SECTOR_BYTES), count]
    for start, end in pairwise(borders):
        if random.random() < 0.5:
            yield start, end
