"""The transaction index: the aborted transactions of a segment, as readers must know them.

A reader that wants committed data alone is told which producers to leave out, from which offset
on, until their abort marker. An entry also has the last stable offset when it was made: no
transaction that ends later can begin before it, so a search may stop there.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from odradek.kafka.storage.files import OpenFiles

VERSION = 0
ENTRY = Struct(">hqqqq")


class AbortedTransaction(NamedTuple):
    """Offsets are those of the first record, and of the marker."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int

    def encode(self) -> bytes:
        return ENTRY.pack(VERSION, *self)

    def overlaps(self, start_offset: int, end_offset: int) -> bool:
        return self.last_offset >= start_offset and self.first_offset < end_offset


def append_aborted(files: OpenFiles, path: str, aborted: AbortedTransaction) -> None:
    files.get(path, create=True).append(aborted.encode())


def read_aborted(data: bytes) -> list[AbortedTransaction]:
    """All entries; of a torn one at the end, nothing."""
    whole = len(data) - len(data) % ENTRY.size
    return [AbortedTransaction(*fields[1:]) for fields in ENTRY.iter_unpack(data[:whole])]
