"""Lines as they come in, and word when none does: who waits for more sends what it has.

A thread reads, for a read of a pipe or a terminal cannot be given a time.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from queue import Empty, Queue
from typing import BinaryIO

PIECE_BYTES = 256 * 1024
IDLE_S = 0.05
PIECES_MAX = 16
STDIN = Path("-")
END = None


def lines_of(paths: Iterable[Path]) -> Iterator[str | None]:
    """The lines of files, one file after another; None whenever nothing came for a while."""
    for path in paths:
        if path == STDIN:
            yield from arriving(sys.stdin.buffer)
        else:
            with path.open("rb") as file:
                yield from file_lines(file)


def file_lines(file: BinaryIO) -> Iterator[str]:
    for line in file:
        yield text_of(line)


def arriving(stream: BinaryIO) -> Iterator[str | None]:
    pieces: Queue[bytes | OSError | None] = Queue(PIECES_MAX)
    threading.Thread(target=read_into, args=(stream, pieces), daemon=True).start()
    rest, is_idle = b"", False
    while True:
        try:
            piece = pieces.get(timeout=None if is_idle else IDLE_S)
        except Empty:
            is_idle = True
            yield None
            continue
        is_idle = False
        if isinstance(piece, OSError):
            raise piece
        if piece is END:
            break
        *whole, rest = (rest + piece).split(b"\n")
        yield from map(text_of, whole)
    if rest:
        yield text_of(rest)


def read_into(stream: BinaryIO, pieces: Queue[bytes | OSError | None]) -> None:
    """Put what comes into a queue, then its end or what went wrong."""
    read = getattr(stream, "read1", stream.read)
    try:
        while piece := read(PIECE_BYTES):
            pieces.put(piece)
        pieces.put(END)
    except OSError as error:
        pieces.put(error)


def text_of(line: bytes) -> str:
    return line.rstrip(b"\n").decode(errors="surrogateescape")
