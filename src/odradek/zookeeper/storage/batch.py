"""Transactions on their way to the log, gathered until the disk is free.

A batch has one owner at a time. The event loop fills it; then it is handed to the thread that
writes it, and the loop goes on with the next. Nothing is locked, as nothing is shared.
"""

from __future__ import annotations

from struct import Struct
from zlib import adler32

FRAME_START = Struct(">qi")  # Adler-32 of the entry, and its length.
FRAME_END = b"B"
AROUND_BYTES = FRAME_START.size + len(FRAME_END)

_start = FRAME_START.pack


class Run:
    """Entries that go to one file, framed. The file is a new one if `starts_file`."""

    __slots__ = ("first_zxid", "frames", "size", "starts_file")

    def __init__(self, first_zxid: int, starts_file: bool) -> None:
        self.first_zxid = first_zxid
        self.starts_file = starts_file
        self.frames: list[bytes] = []  # In pieces, to be joined once.
        self.size = 0  # Of all of them, in bytes.


class Batch:
    """Entries to be written together, in the order of their zxids."""

    __slots__ = ("_run", "ends_file", "last_zxid", "runs")

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.last_zxid = 0
        self.ends_file = False  # Whether what follows, here or in the next batch, starts a file.
        self._run: Run | None = None

    def __bool__(self) -> bool:
        return bool(self.runs)

    def append(self, zxid: int, entry: bytes) -> None:
        """Add a transaction: its header, record and digest as they are logged."""
        assert zxid > self.last_zxid
        self.last_zxid = zxid
        run = self._run or self._open_run(zxid)
        size = len(entry)
        run.frames += (_start(adler32(entry), size), entry, FRAME_END)
        run.size += size + AROUND_BYTES

    def roll(self) -> None:
        """Let what follows go to a new file."""
        self.ends_file = True
        self._run = None

    def _open_run(self, zxid: int) -> Run:
        run = self._run = Run(zxid, self.ends_file)
        self.runs.append(run)
        self.ends_file = False
        return run
