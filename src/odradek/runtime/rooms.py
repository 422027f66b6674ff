"""Rooms: memory for large frames, used again and again.

To take megabytes from the system and to give them back costs more than to fill them: each page is
faulted in and zeroed, each time. So some buffers are kept, of so many bytes in all and no more;
who comes while they are in use is lent none. A room is free again when nobody looks at it any
more, which nobody need say: a bytearray with views on it cannot change its length.
"""

from __future__ import annotations

ROOMS_BYTES_MAX = 32 * 1024 * 1024
ROOM_BYTES_MAX = 16 * 1024 * 1024
STEP_BYTES = 1024 * 1024


class Rooms:
    """The buffers of all connections of a server."""

    def __init__(self, bytes_max: int = ROOMS_BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self._rooms: list[bytearray] = []  # The one lent last comes first: caches know it.

    @property
    def size(self) -> int:
        """All bytes that are held, in use or not."""
        return sum(map(len, self._rooms))

    def lend(self, size: int) -> memoryview | None:
        """Room for so many bytes, until nobody looks at it; None if there is none."""
        if size > ROOM_BYTES_MAX:
            return None
        room = self._take_free(size) or self._begin(size)
        if room is None:
            return None
        self._rooms.insert(0, room)
        return memoryview(room)[:size]

    def _take_free(self, size: int) -> bytearray | None:
        for index, room in enumerate(self._rooms):
            if len(room) >= size and is_free(room):
                return self._rooms.pop(index)
        return None

    def _begin(self, size: int) -> bytearray | None:
        """A new one, in the place of those that are free, which are too small."""
        self._rooms = [room for room in self._rooms if not is_free(room)]
        rounded = -(-size // STEP_BYTES) * STEP_BYTES
        return bytearray(rounded) if self.size + rounded <= self._bytes_max else None


def is_free(room: bytearray) -> bool:
    """Whether nobody looks at it."""
    try:
        room.append(room.pop())
    except BufferError:
        return False
    return True
