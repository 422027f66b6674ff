"""Checksums of bytes that are not at hand, put together from those of their parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from odradek.zookeeper.state.sheets import Kept

ADLER_BASE = 65521


def combined(first: int, second: int, second_size: int) -> int:
    """The Adler-32 of two runs of bytes in a row, given that of each."""
    low, high = first & 0xFFFF, first >> 16
    sum_low = low + (second & 0xFFFF) - 1
    sum_high = high + (second >> 16) + second_size * (low - 1)
    return sum_high % ADLER_BASE << 16 | sum_low % ADLER_BASE


def joined(sheets: Iterable[Kept]) -> Iterator[Kept]:
    """The same stretches of one file, those that follow each other as one."""
    last: Kept | None = None
    for each in sheets:
        if last is not None and last.position + last.size == each.position:
            checksum = combined(last.checksum, each.checksum, each.size)
            last = Kept(last.path, last.position, last.size + each.size, checksum)
            continue
        if last is not None:
            yield last
        last = each
    if last is not None:
        yield last
