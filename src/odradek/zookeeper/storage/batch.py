"""Transactions on their way to the log, gathered until the disk is free.

A batch has one owner at a time. The event loop fills it; then it is handed to the thread that
writes it, and the loop goes on with the next. Nothing is locked, as nothing is shared.
"""

from __future__ import annotations

from struct import Struct
from zlib import adler32

FRAME_START = Struct(">qi")  # Adler-32 of the entry, and its length.
FRAME_END = b"B"

_start = FRAME_START.pack


class Run:
    """Entries that go to one file, framed. The file is a new one if `starts_file`."""

    __slots__ = ("first_zxid", "frames", "starts_file")

    def __init__(self, first_zxid: int, starts_file: bool) -> None:
        self.first_zxid = first_zxid
        self.starts_file = starts_file
        self.frames: list[bytes] = []


class Batch:
    """Entries to be written together, in the order of their zxids."""

    __slots__ = ("_frames", "_is_run_open", "ends_file", "last_zxid", "runs")

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.last_zxid = 0
        self.ends_file = False  # Whether what follows, here or in the next batch, starts a file.
        self._frames: list[bytes] = []
        self._is_run_open = False

    def __bool__(self) -> bool:
        return bool(self.runs)

    def append(self, zxid: int, entry: bytes) -> None:
        """Add a transaction: its header, record and digest as they are logged."""
        assert zxid > self.last_zxid
        if not self._is_run_open:
            self._open_run(zxid)
        self.last_zxid = zxid
        self._frames.append(_start(adler32(entry), len(entry)) + entry + FRAME_END)

    def roll(self) -> None:
        """Let what follows go to a new file."""
        self.ends_file = True
        self._is_run_open = False

    def _open_run(self, zxid: int) -> None:
        run = Run(zxid, self.ends_file)
        self.runs.append(run)
        self._frames = run.frames
        self.ends_file = False
        self._is_run_open = True
