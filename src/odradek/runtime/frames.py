"""Frames: a stream cut at its lengths, as both protocols cut it.

A frame is a signed 32-bit length and that many bytes. A length beyond the limit is refused as
soon as its four bytes are here, so nobody makes us hold what we would not read. A small frame
is copied out of the read buffer; a large one gets a buffer of its own, which the socket fills
directly (`asyncio.BufferedProtocol`). That buffer starts at a mebibyte and doubles as bytes come:
a length alone, true or not, costs its sender more than it costs us. Whoever has room of his own for
large frames may lend it, and then gets them there.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct

from odradek.runtime.errors import ProtocolError

Frame = bytes | memoryview
Lender = Callable[[int], memoryview | None]  # Room for so many bytes, or None for none.
LENGTH = Struct(">i")
SCRATCH_BYTES = 64 * 1024
LARGE_START_BYTES = 1024 * 1024

_read_length = LENGTH.unpack_from


class FrameTooLarge(ProtocolError):
    """A frame announced a length that is negative or beyond the limit.

    `before` holds the whole frames ahead of it, which came with the same bytes.
    """

    def __init__(self, size: int, frame_bytes_max: int, before: list[Frame]) -> None:
        super().__init__(f"a frame of {size} bytes; the limit is {frame_bytes_max}")
        self.before = before


class FrameReader:
    """One connection's stream of frames.

    Many readers may share one `scratch`: what a read leaves over is kept apart, so between
    `received` and the next `get_buffer` nothing of ours is in it.
    """

    __slots__ = (
        "_filled",
        "_large",
        "_large_size",
        "_rest",
        "_scratch",
        "frame_bytes_max",
        "lender",
    )

    def __init__(self, frame_bytes_max: int, scratch: bytearray | None = None) -> None:
        self.frame_bytes_max = frame_bytes_max
        self.lender: Lender | None = None  # Of room that is not touched before bytes come.
        self._scratch = memoryview(scratch if scratch is not None else bytearray(SCRATCH_BYTES))
        self._rest = b""  # The start of a frame whose end has not come.
        self._large: memoryview | None = None  # A large frame, filled up to `_filled`.
        self._large_size = 0
        self._filled = 0

    def get_buffer(self) -> memoryview:
        """Where the next bytes of the stream belong."""
        if self._large is not None:
            return self._large[self._filled :]
        if not self._rest:
            return self._scratch
        rest = self._rest
        self._scratch[: len(rest)] = rest
        return self._scratch[len(rest) :]

    def received(self, count: int) -> list[Frame]:
        """Take `count` bytes that were put into the buffer; return the frames they complete."""
        if self._large is not None:
            return self._fill_large(count)
        frames: list[Frame] = []
        self._cut(self._scratch[: len(self._rest) + count], frames)
        return frames

    def sole(self, count: int) -> bytes | None:
        """The frame, if `count` bytes that were put into the buffer are one, whole and alone.

        It is not taken: `received` gives it again.
        """
        if self._rest or self._large is not None or count < LENGTH.size:
            return None
        (size,) = _read_length(self._scratch)
        if size != count - LENGTH.size or size > self.frame_bytes_max:
            return None
        return bytes(self._scratch[LENGTH.size : count])

    def feed(self, data: bytes) -> list[Frame]:
        """Take bytes that came in a buffer of their own; return the frames they complete."""
        frames: list[Frame] = []
        while data and self._large is not None:
            room = self.get_buffer()
            taken = min(len(room), len(data))
            room[:taken] = data[:taken]
            frames += self._fill_large(taken)
            data = data[taken:]
        if data:
            self._cut(self._rest + data if self._rest else data, frames)
        return frames

    @property
    def is_between_frames(self) -> bool:
        """Whether the stream could end here without tearing a frame."""
        return self._large is None and not self._rest

    def _fill_large(self, count: int) -> list[Frame]:
        assert self._large is not None
        self._filled += count
        if self._filled < len(self._large):
            return []
        if self._filled < self._large_size:
            self._hold_large(2 * self._filled, self._large)
            return []
        frame, self._large = self._large, None
        return [frame]

    def _cut(self, data: Frame, frames: list[Frame]) -> None:
        position, end, size_max = 0, len(data), self.frame_bytes_max
        while end - position >= 4:
            start = position + 4
            (size,) = _read_length(data, position)
            if not 0 <= size <= size_max:
                raise FrameTooLarge(size, size_max, frames)
            if start + size > end:
                if start + size - position > len(self._scratch):
                    self._start_large(size, data[start:])
                    return
                break
            position = start + size
            frame = data[start:position]
            frames.append(frame if type(frame) is bytes else bytes(frame))
        self._rest = bytes(data[position:]) if position < end else b""

    def _start_large(self, size: int, begun: Frame) -> None:
        self._rest = b""
        self._large_size = size
        self._filled = len(begun)
        lent = self.lender(size) if self.lender is not None else None
        if lent is not None:
            self._large = lent[:size]
            self._large[: len(begun)] = begun
            return
        self._hold_large(max(LARGE_START_BYTES, 2 * len(begun)), begun)

    def _hold_large(self, room: int, begun: Frame) -> None:
        self._large = memoryview(bytearray(min(room, self._large_size)))
        self._large[: len(begun)] = begun
