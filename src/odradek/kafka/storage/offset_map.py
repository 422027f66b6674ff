"""The newest batch of each key, in bounded memory.

Kafka maps a key's digest to the offset of its newest record. Here it is the base offset of the
newest batch that has the key, one number for all keys of a batch: inside a batch the last record
of a key is found when the batch is seen again. A key of up to 31 bytes stands for itself, a
longer one for its digest of 32 bytes, so no two keys can be taken for one by their lengths.

A key takes what its bytes object takes (48 for up to 15 bytes, 64 for up to 31, 80 for a digest)
and its share of the table: 30 to 60. A table that is full is copied to one of twice its size, and
for that moment both are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from itertools import repeat
from sys import getsizeof

KEY_BYTES_MAX = 31
DIGEST_BYTES = 32
OBJECT_BYTES = 33  # Of a bytes object, beside its bytes...
OBJECT_STEP_BYTES = 16  # ...and what the whole is rounded up to.
TABLE_BYTES_PER_KEY = 30  # Of a full table: 20 for each place, of which two in three are used.

Keys = Sequence[bytes | None]


class OffsetMap:
    """Keys, and the base offsets of the newest batches that have them."""

    __slots__ = ("_bytes_max", "_key_bytes", "_newest", "end_offset")

    def __init__(self, bytes_max: int, end_offset: int) -> None:
        """`end_offset` is where the dirty part begins: the map is whole up to there."""
        self.end_offset = end_offset
        self._bytes_max = bytes_max
        self._newest: dict[bytes | None, int] = {}
        self._key_bytes = 0

    def __len__(self) -> int:
        return len(self._newest)

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        return getsizeof(self._newest) + self._key_bytes

    def has_room_for(self, keys: Keys) -> bool:
        """Whether a batch can be added; the first always can, or nothing would ever be cleaned."""
        if not self._newest:
            return True
        table = getsizeof(self._newest)
        if (len(self._newest) + len(keys)) * TABLE_BYTES_PER_KEY > table:
            table *= 3  # The old one, and the new one beside it.
        most = len(keys) * (OBJECT_BYTES + DIGEST_BYTES + OBJECT_STEP_BYTES)
        return table + self._key_bytes + most <= self._bytes_max

    def add(self, keys: Keys, base_offset: int) -> None:
        """Note the keys of a batch, which comes behind all that were added before."""
        known = len(self._newest)
        marks = [mark for mark in marks_of(keys) if mark is not None]
        self._newest.update(zip(marks, repeat(base_offset), strict=False))
        if grown := len(self._newest) - known:
            average = OBJECT_BYTES + sum(map(len, marks)) // len(marks)
            self._key_bytes += grown * -(-average // OBJECT_STEP_BYTES) * OBJECT_STEP_BYTES

    def newest(self, keys: Keys, base_offset: int) -> list[int]:
        """Which records of a batch, by number, are the newest of their keys.

        Those without a key are none.
        """
        last = dict(zip(marks_of(keys), range(len(keys)), strict=True))
        last.pop(None, None)
        found = list(map(self._newest.get, last, repeat(0)))
        if len(last) == len(keys) and max(found, default=0) <= base_offset:
            return list(range(len(keys)))
        places = zip(last.values(), found, strict=True)
        return sorted(number for number, newest in places if newest <= base_offset)


def marks_of(keys: Keys) -> Keys:
    """What stands for each key."""
    if None not in keys and max(map(len, keys), default=0) <= KEY_BYTES_MAX:  # type: ignore[arg-type]
        return keys
    return [key if key is None else _mark(key) for key in keys]


def _mark(key: bytes) -> bytes:
    return key if len(key) <= KEY_BYTES_MAX else blake2b(key, digest_size=DIGEST_BYTES).digest()
