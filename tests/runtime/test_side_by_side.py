"""Writes side by side: all are done, whoever does them, and each failure is told of its own."""

from __future__ import annotations

from functools import partial
from threading import Barrier, get_ident

import pytest

from odradek.runtime.disk import DiskBroken, DiskFull
from odradek.runtime.side_by_side import SideBySide

LIMIT_S = 60.0


def refuse(error: Exception) -> None:
    raise error


@pytest.mark.parametrize("helpers_count", [0, 1, 3])
@pytest.mark.parametrize("count", [0, 1, 2, 9])
def test_all_are_done_once(helpers_count: int, count: int) -> None:
    done: list[int] = []
    side_by_side = SideBySide(helpers_count)
    for _ in range(50):
        done.clear()
        assert side_by_side.do([partial(done.append, n) for n in range(count)]) == [None] * count
        assert sorted(done) == list(range(count))


def test_each_failure_is_told_of_its_own_and_stops_nothing() -> None:
    full, broken, done = DiskFull("/a", "full"), DiskBroken("/b", "broken"), list[int]()
    writes = [
        partial(refuse, full),
        partial(done.append, 1),
        partial(refuse, broken),
        partial(done.append, 2),
    ]
    for helpers_count in (0, 1):
        done.clear()
        assert SideBySide(helpers_count).do(writes) == [full, None, broken, None]
        assert sorted(done) == [1, 2]


def test_a_bug_is_no_failure_of_the_disk() -> None:
    for helpers_count in (0, 1):
        with pytest.raises(ZeroDivisionError):
            SideBySide(helpers_count).do([partial(refuse, ZeroDivisionError())] * 2)


def test_a_helper_writes_while_the_caller_does() -> None:
    threads: set[int] = set()
    meeting = Barrier(2)

    def write() -> None:
        meeting.wait(LIMIT_S)
        threads.add(get_ident())

    assert SideBySide(1).do([write, write]) == [None, None]
    assert len(threads) == 2 and get_ident() in threads
