"""Which partition a record goes to, as Java's producer has it.

A record with a key goes where the key's murmur2 says, so equal keys meet in one partition whoever
writes them. Records without a key stay with one partition until it has got about a batch, then
go on to the next: batches are full, and partitions even.
"""

from __future__ import annotations

from dataclasses import dataclass

SEED = 0x9747B28C
MULTIPLIER = 0x5BD1E995
WORD_MASK = 0xFFFFFFFF
POSITIVE_MASK = 0x7FFFFFFF


def murmur2(data: bytes) -> int:
    """The 32-bit hash of Austin Appleby's murmur2, unsigned, with the seed of Java's producer."""
    number = SEED ^ len(data)
    whole = len(data) & ~3
    for at in range(0, whole, 4):
        word = int.from_bytes(data[at : at + 4], "little") * MULTIPLIER & WORD_MASK
        word = (word ^ word >> 24) * MULTIPLIER & WORD_MASK
        number = number * MULTIPLIER & WORD_MASK ^ word
    if whole < len(data):
        number = (number ^ int.from_bytes(data[whole:], "little")) * MULTIPLIER & WORD_MASK
    number = (number ^ number >> 13) * MULTIPLIER & WORD_MASK
    return number ^ number >> 15


def partition_of(key: bytes, partition_count: int) -> int:
    """The partition of a key."""
    return (murmur2(key) & POSITIVE_MASK) % partition_count


@dataclass(slots=True)
class StickyPartition:
    """Where the records of a topic that have no key go just now."""

    partition_count: int
    partition: int = 0
    bytes_taken: int = 0

    def take(self, size: int, bytes_max: int) -> int:
        """The partition for a record of this size; the one after it may go elsewhere."""
        chosen = self.partition
        self.bytes_taken += size
        if self.bytes_taken >= bytes_max:
            self.partition = (chosen + 1) % self.partition_count
            self.bytes_taken = 0
        return chosen
