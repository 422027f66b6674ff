from __future__ import annotations

import pytest

from odradek.pipelines.sink_log import (
    NotOurLog,
    SinkFile,
    entry_of,
    newest_log,
    parse_log,
    plan_bins,
    render_log,
    replaced,
)


def file(folder: str, number: int, size: int) -> SinkFile:
    return entry_of(f"file:///a/{folder}/{number}.parquet", size, 0, 32)


def test_a_log_is_read_as_it_was_written() -> None:
    files = [file("x", 1, 10), file("y", 2, 20)]
    assert parse_log(render_log(files)) == files


def test_a_log_of_another_version_is_refused() -> None:
    with pytest.raises(NotOurLog, match="v2"):
        parse_log("v2\n{}")


def test_the_newest_log_must_have_the_whole_list() -> None:
    assert newest_log(["8.compact", "10.compact", ".10.compact.crc", "9.compact"]) == "10.compact"
    with pytest.raises(NotOurLog, match="whole list"):
        newest_log(["9.compact", "10"])
    with pytest.raises(NotOurLog, match="nothing was archived"):
        newest_log([])


def test_small_files_of_one_folder_are_put_together() -> None:
    small = [file("x", n, 10) for n in range(4)]
    (found,) = plan_bins([*small, file("y", 9, 10), file("x", 5, 90)], 100, files_min=4)
    assert found.files == tuple(small) and found.folder == "file:///a/x"


def test_a_full_file_is_made_whatever_its_parts_and_few_leftovers_stay() -> None:
    files = [file("x", n, 50) for n in range(5)]
    assert [len(one.files) for one in plan_bins(files, 100, files_min=4)] == [2, 2]


def test_one_file_alone_is_never_rewritten() -> None:
    assert plan_bins([file("x", 1, 10)], 100, files_min=1) == []


def test_the_new_list_has_the_new_file_for_the_old_ones() -> None:
    old, other, new = [file("x", 1, 1), file("x", 2, 1)], file("y", 3, 1), file("x", 9, 2)
    assert replaced([*old, other], old, [new]) == [other, new]
