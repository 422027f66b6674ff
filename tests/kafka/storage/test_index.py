"""Indexes: what is found in them, and what they do without room."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.kafka.storage.files import OpenFiles
from odradek.kafka.storage.index import OFFSET_ENTRY, GrowingIndex, StoredIndex
from odradek.kafka.storage.source import ColdSource
from odradek.runtime.disk import DiskFull
from tests.kafka.storage.disks import MortalDisk, get_file, new_disk

PATH = "/data/index"


def grown(
    disk: MortalDisk, entries: list[tuple[int, int]], bytes_max: int = 80_000
) -> GrowingIndex:
    index = GrowingIndex(OpenFiles(disk), PATH, OFFSET_ENTRY, bytes_max)
    index.start()
    for entry in entries:
        index.append(*entry)
    return index


@given(st.lists(st.integers(1, 10**6), unique=True, max_size=30).map(sorted), st.integers(0, 10**6))
def test_the_last_entry_up_to_a_limit_is_found(keys: list[int], limit: int) -> None:
    disk = new_disk()
    stored = grown(disk, [(key, 2 * key) for key in keys]).stored()
    expected = max((key for key in keys if key <= limit), default=None)
    found = stored.floor(ColdSource(disk), limit)
    assert found == (None if expected is None else (expected, 2 * expected))


@pytest.mark.parametrize("count", [511, 512, 513, 5000])
def test_an_index_of_many_blocks_is_searched_block_by_block(count: int) -> None:
    disk = new_disk()
    stored = grown(disk, [(3 * n, n) for n in range(1, count + 1)]).stored()
    source = ColdSource(disk)
    for number in (1, 2, 511, 512, 513, count - 1, count):
        if number <= count:
            assert stored.floor(source, 3 * number + 2) == (3 * number, number)
            assert stored.count_up_to(source, number, field=1) == number


def test_an_index_is_long_while_it_grows_and_cut_when_it_is_finished() -> None:
    disk = new_disk()
    index = grown(disk, [(1, 10), (2, 20)], bytes_max=83)
    assert len(get_file(disk, PATH)) == 80
    index.trim()
    assert get_file(disk, PATH) == OFFSET_ENTRY.pack(1, 10) + OFFSET_ENTRY.pack(2, 20)


def test_an_index_is_full_when_its_bytes_are() -> None:
    disk = new_disk()
    assert not grown(disk, [(1, 1)], bytes_max=16).is_full
    assert grown(disk, [(1, 1), (2, 2)], bytes_max=16).is_full


def test_without_room_entries_wait_in_memory() -> None:
    disk = new_disk()
    index = grown(disk, [], bytes_max=8)
    disk.storage.device.fill()
    for number in range(1, 400):
        index.append(number, number)
    assert index.stored().entry_count == 0
    with pytest.raises(DiskFull):
        index.trim()
    disk.storage.device.repair()
    assert index.stored() == StoredIndex(PATH, OFFSET_ENTRY, 399)
    assert index.stored().floor(ColdSource(disk), 350) == (350, 350)
