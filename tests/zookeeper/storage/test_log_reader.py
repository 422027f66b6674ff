"""The log as it is read: what a crash leaves ends it, what a bad disk leaves is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.zookeeper.storage.errors import CorruptLog, StorageError
from odradek.zookeeper.storage.log_end import CHUNK_BYTES
from odradek.zookeeper.storage.log_reader import cut_tail, read_log, truncate_log
from odradek.zookeeper.storage.txnlog import HEADER
from tests.zookeeper.storage.disks import get_file, new_disk, put_file
from tests.zookeeper.storage.logs import entry_of, write_log, zxids

CONTENTS = st.lists(st.binary(max_size=700), min_size=1, max_size=12)
STEP = 8192


def numbered(contents: list[bytes], first_zxid: int = 1) -> list[tuple[int, bytes]]:
    return [(zxid, entry_of(zxid, content)) for zxid, content in enumerate(contents, first_zxid)]


@given(CONTENTS, CONTENTS, st.sampled_from([0, 100, STEP]))
def test_any_entries_are_read_as_they_were_written(
    older: list[bytes], newer: list[bytes], step_bytes: int
) -> None:
    disk = new_disk()
    batches = numbered(older), numbered(newer, len(older) + 1)
    write_log(disk, *batches, step_bytes=step_bytes)
    read = [(entry.zxid, entry.data) for entry in read_log(disk, "/data", 0)]
    assert read == [*batches[0], *batches[1]]


def test_reading_starts_with_the_file_that_may_hold_the_zxid() -> None:
    disk = new_disk()
    write_log(disk, *(numbered([b"", b""], first) for first in (1, 3, 5)))
    assert zxids(disk, 0) == [1, 2, 3, 4, 5, 6]
    assert zxids(disk, 2) == [1, 2, 3, 4, 5, 6]
    assert zxids(disk, 3) == [3, 4, 5, 6]
    assert zxids(disk, 100) == [5, 6]


def test_an_entry_may_be_longer_than_what_is_read_at_once() -> None:
    disk = new_disk()
    contents = [b"", b"1" * (CHUNK_BYTES - 100), b"2" * (3 * CHUNK_BYTES), b"3"]
    write_log(disk, numbered(contents))
    assert zxids(disk) == [1, 2, 3, 4]


@given(CONTENTS, st.data())
def test_a_log_that_is_cut_anywhere_holds_a_prefix(
    contents: list[bytes], data: st.DataObject
) -> None:
    disk = new_disk()
    write_log(disk, numbered(contents), step_bytes=0)
    whole = get_file(disk, "/data/log.1")
    ends = [entry.end for entry in read_log(disk, "/data", 0)]
    size = data.draw(st.integers(0, len(whole)))
    expected = [zxid for zxid, end in enumerate(ends, 1) if end <= size]
    put_file(disk, "/data/log.1", whole[:size])
    assert zxids(disk) == expected
    put_file(disk, "/data/log.1", whole[:size] + bytes(STEP))
    assert zxids(disk) == expected


@given(CONTENTS, st.data())
def test_a_flipped_bit_never_makes_another_entry(
    contents: list[bytes], data: st.DataObject
) -> None:
    disk = new_disk()
    solid = [content.replace(b"\0", b"0") for content in contents]
    write_log(disk, numbered(solid), step_bytes=data.draw(st.sampled_from([0, STEP])))
    whole = bytearray(get_file(disk, "/data/log.1"))
    last_end = list(read_log(disk, "/data", 0))[-1].end
    position = data.draw(st.integers(len(HEADER), len(whole) - 1))
    whole[position] ^= 1 << data.draw(st.integers(0, 7))
    put_file(disk, "/data/log.1", bytes(whole))
    if position < last_end:
        with pytest.raises(CorruptLog):
            zxids(disk)
    else:
        assert zxids(disk) == list(range(1, len(solid) + 1))


@given(st.lists(st.integers(0, 900), min_size=2, max_size=12), st.data())
def test_sectors_that_never_reached_the_device_end_the_log(
    sizes: list[int], data: st.DataObject
) -> None:
    disk = new_disk()
    write_log(disk, numbered([b"x" * size for size in sizes]), step_bytes=STEP)
    whole = get_file(disk, "/data/log.1")
    ends = [entry.end for entry in read_log(disk, "/data", 0)]
    synced = data.draw(st.integers(0, len(ends) - 1))
    first_lost = ends[synced]
    sector = data.draw(st.integers(first_lost // 512, max(first_lost, ends[-1] - 1) // 512))
    start, end = max(first_lost, sector * 512), (sector + 1) * 512
    torn = whole[:start] + bytes(end - start) + whole[end:]
    put_file(disk, "/data/log.1", torn)
    # Zeros that stay zeros are no loss.
    assert zxids(disk) == [zxid for zxid, at in enumerate(ends, 1) if torn[:at] == whole[:at]]


def test_a_corrupt_entry_is_refused_by_file_and_position() -> None:
    disk = new_disk()
    write_log(disk, numbered([b"first", b"second", b"third"]), step_bytes=STEP)
    whole = bytearray(get_file(disk, "/data/log.1"))
    whole[whole.index(b"second")] ^= 1
    put_file(disk, "/data/log.1", bytes(whole))
    with pytest.raises(CorruptLog, match=r"/data/log\.1: at byte 66") as caught:
        zxids(disk)
    assert caught.value.position == 66


def test_an_entry_that_is_not_whole_ends_a_file_that_others_follow() -> None:
    disk = new_disk()
    write_log(disk, numbered([b"", b"torn"]), step_bytes=0)
    write_log(disk, numbered([b""], 2))
    put_file(disk, "/data/log.1", get_file(disk, "/data/log.1")[:-3])
    assert zxids(disk) == [1, 2]


def test_a_wrong_checksum_is_refused_where_later_logs_follow() -> None:
    disk = new_disk()
    write_log(disk, numbered([b"", bytes(2000)]), numbered([b""], 3), step_bytes=STEP)
    whole = bytearray(get_file(disk, "/data/log.1"))
    whole[1000] ^= 1
    put_file(disk, "/data/log.1", bytes(whole))
    with pytest.raises(CorruptLog, match="later logs follow"):
        zxids(disk)


@pytest.mark.parametrize("start", [b"", HEADER[:3], HEADER[:9], bytes(100)])
def test_the_newest_log_may_not_have_been_begun(start: bytes) -> None:
    disk = new_disk()
    write_log(disk, numbered([b"", b""]))
    put_file(disk, "/data/log.3", start)
    assert zxids(disk) == [1, 2]
    put_file(disk, "/data/log.4", HEADER)
    with pytest.raises(CorruptLog, match="not the start of a log"):
        zxids(disk)


def test_what_is_no_log_is_refused() -> None:
    disk = new_disk()
    put_file(disk, "/data/log.1", b"something else altogether")
    with pytest.raises(CorruptLog, match="not the start of a log"):
        zxids(disk)


def test_truncating_forgets_what_follows_a_zxid() -> None:
    for zxid in range(1, 7):
        disk = new_disk()
        write_log(disk, *(numbered([b"", b"x"], first) for first in (1, 3, 5)))
        truncate_log(disk, "/data", zxid)
        assert zxids(disk) == list(range(1, zxid + 1))


def test_truncating_to_what_no_log_holds_is_refused() -> None:
    disk = new_disk()
    write_log(disk, numbered([b"", b""], first_zxid=5))
    with pytest.raises(StorageError, match="no log reaches back to zxid 0x4"):
        truncate_log(disk, "/data", 4)


def test_a_torn_tail_is_cut_off() -> None:
    disk = new_disk()
    write_log(disk, numbered([b"", b"torn"]), step_bytes=STEP)
    first, second = read_log(disk, "/data", 0)
    whole = bytearray(get_file(disk, "/data/log.1"))
    whole[second.end - 3 : second.end] = bytes(3)
    put_file(disk, "/data/log.1", bytes(whole))
    assert cut_tail(disk, "/data", first) == (
        f"cut {second.end - 3 - first.end} bytes behind the last transaction of /data/log.1"
    )
    assert disk.open("/data/log.1").size() == first.end
    assert cut_tail(disk, "/data", first) is None


def test_the_zeros_behind_the_last_entry_stay() -> None:
    disk = new_disk()
    write_log(disk, numbered([b""]))
    (entry,) = read_log(disk, "/data", 0)
    assert cut_tail(disk, "/data", entry) is None
    assert disk.open("/data/log.1").size() == 67108880


def test_a_log_without_entries_is_removed() -> None:
    disk = new_disk()
    write_log(disk, numbered([b""]))
    (entry,) = read_log(disk, "/data", 0)
    put_file(disk, "/data/log.2", b"")
    assert cut_tail(disk, "/data", entry) == "removed /data/log.2, which holds no transaction"
    assert disk.list_directory("/data") == ["log.1"]
