"""Which segments are cleaned into one.

Cleaning leaves segments smaller than they were, so neighbours are put together, as long as what
they hold now would fit into one: its bytes, its indexes, and the range of offsets that an index
can tell.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from odradek.kafka.storage.tail import RELATIVE_OFFSET_MAX
from odradek.kafka.storage.view import SegmentView


class Sized(NamedTuple):
    """A segment with the sizes of its files."""

    view: SegmentView
    size: int
    offsets_size: int = 0
    times_size: int = 0


def group_segments(
    segments: Iterable[Sized], segment_bytes: int, index_bytes: int
) -> list[list[SegmentView]]:
    """Groups of neighbours, oldest first; a segment that is too large is one by itself."""
    groups: list[list[SegmentView]] = []
    size = offsets_size = times_size = 0
    for each in segments:
        size, offsets_size = size + each.size, offsets_size + each.offsets_size
        times_size += each.times_size
        has_room = size <= segment_bytes and max(offsets_size, times_size) <= index_bytes
        if groups and has_room and _is_in_reach(groups[-1][0], each):
            groups[-1].append(each.view)
        else:
            groups.append([each.view])
            size, offsets_size, times_size = each.size, each.offsets_size, each.times_size
    return groups


def _is_in_reach(first: SegmentView, last: Sized) -> bool:
    """Whether an index that begins with one can tell of the other, which may be empty."""
    last_offset = last.view.next_offset - 1
    return not last.size or last_offset - first.base_offset <= RELATIVE_OFFSET_MAX
