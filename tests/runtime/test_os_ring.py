"""Writes that the kernel does while we go on."""

from __future__ import annotations

import asyncio
import errno
import gc
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop

from odradek.runtime import os_ring
from odradek.runtime.os_ring import JOBS_MAX, Ring, ring_of_loop

LOOPS = [uvloop.new_event_loop, asyncio.new_event_loop]


def ring() -> Ring:
    found = ring_of_loop()
    if found is None:
        pytest.skip("no io_uring here")
    return found


def run(
    story: Callable[[], Coroutine[Any, Any, None]],
    factory: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(story())


@pytest.mark.parametrize("factory", LOOPS, ids=["uvloop", "asyncio"])
def test_as_many_as_fit_are_done_side_by_side_and_each_is_told(
    tmp_path: Path, factory: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    async def story() -> None:
        ours, loop = ring(), asyncio.get_running_loop()
        file = os.open(tmp_path / "a", os.O_RDWR | os.O_CREAT)
        for turn in range(5):
            futures = [loop.create_future() for _ in range(JOBS_MAX)]
            for number, future in enumerate(futures):
                data = b"%d%d" % (turn, number)
                assert ours.write(file, number * 2, data, future.set_result)
            assert not ours.write(file, 0, b"one too many", futures[0].set_result)
            assert await asyncio.gather(*futures) == [2] * JOBS_MAX
        os.close(file)
        assert (tmp_path / "a").read_bytes() == b"".join(b"4%d" % it for it in range(JOBS_MAX))

    run(story, factory)


def test_an_error_is_told_by_its_number() -> None:
    async def story() -> None:
        told = asyncio.get_running_loop().create_future()
        ring().write(10_000, 0, b"data", told.set_result)
        assert await told == -errno.EBADF

    run(story, uvloop.new_event_loop)


def test_what_the_kernel_does_not_take_is_not_begun_then_nor_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        ours, told = ring(), asyncio.get_running_loop().create_future()
        file = os.open(tmp_path / "a", os.O_RDWR | os.O_CREAT)
        with monkeypatch.context() as patched:
            patched.setattr(ours, "_enter", refuse)
            assert not ours.write(file, 0, b"refused", told.set_result)
        assert ours.write(file, 10, b"taken", told.set_result)
        assert await told == 5
        os.close(file)
        assert (tmp_path / "a").read_bytes() == bytes(10) + b"taken"

    def refuse(to_begin: int) -> None:
        raise BlockingIOError(errno.EAGAIN, "come again")

    run(story, uvloop.new_event_loop)


def test_a_ring_that_is_closed_has_done_what_was_under_way(tmp_path: Path) -> None:
    async def story() -> None:
        ring()
        ours, file = Ring(), os.open(tmp_path / "a", os.O_RDWR | os.O_CREAT)
        assert ours.write(file, 0, b"data" * 1000, lambda _: None)
        asyncio.get_running_loop().remove_reader(ours._event)
        ours.close()
        os.close(file)
        assert (tmp_path / "a").read_bytes() == b"data" * 1000

    run(story, uvloop.new_event_loop)


def test_a_loop_has_one_ring_which_goes_with_it() -> None:
    async def story() -> None:
        assert ring_of_loop() is ring()

    run(story, uvloop.new_event_loop)
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        run(story, uvloop.new_event_loop)
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= before


def test_where_the_system_has_none_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden() -> Ring:
        raise PermissionError(errno.EPERM, "forbidden")

    async def story() -> None:
        assert ring_of_loop() is None

    monkeypatch.setattr(os_ring, "Ring", forbidden)
    run(story, uvloop.new_event_loop)
