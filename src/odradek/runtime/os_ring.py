"""Durable writes that the kernel does while we go on: io_uring, where Linux lets us have it.

A thread that syncs has to ask for the interpreter when it begins and when it is done, and waits for
it while the loop is busy; the kernel's own workers want nothing of ours. A ring is two queues in
memory that we share with the kernel: what is to be done, and what was done. An eventfd wakes the
loop. Python has no calls for this, so they are called by their numbers.
"""

from __future__ import annotations

import asyncio
import ctypes
import mmap
import os
import sys
import weakref
from collections.abc import Callable
from contextlib import suppress
from struct import Struct
from typing import Any

SETUP, ENTER, REGISTER = 425, 426, 427  # Linux's; other systems have other calls there.
WAITING = 1  # How to enter: until so many are done.
REGISTER_EVENTFD = 4
IS_MAPPED_ONCE = 1  # A feature: both queues are in one mapping.
JOBS_OFFSET = 0x1000_0000
WRITE = 23
DURABLY = 2  # RWF_DSYNC
JOBS_MAX = 8

PARAMETERS = Struct("=10I 8IQ 8IQ")  # Of the ring, of the queue of jobs, of that of results.
JOB = Struct("=BBHiQQIIQ 24x")
RESULT = Struct("=QiI")
NUMBER = Struct("=I")
NUMBER_MAX = 0xFFFF_FFFF

Done = Callable[[int], None]  # Told how many bytes were written, or an error's number, negative.


class Ring:
    """One ring, and what is under way in it. It belongs to the running loop."""

    def __init__(self) -> None:
        self._system_call: Any = ctypes.CDLL(None, use_errno=True).syscall
        parameters = ctypes.create_string_buffer(PARAMETERS.size)
        self._descriptor = self._call(SETUP, JOBS_MAX, parameters)
        jobs_count, results_count, *rest = PARAMETERS.unpack(parameters.raw)
        _, self._jobs_tail, _, _, _, _, self._places, *_ = rest[8:17]
        self._results_head, self._results_tail, _, _, _, self._results, *_ = rest[17:26]
        self._jobs_mask: int = jobs_count - 1
        self._results_mask: int = results_count - 1
        size = max(
            self._places + NUMBER.size * jobs_count, self._results + RESULT.size * results_count
        )
        if not rest[3] & IS_MAPPED_ONCE:
            os.close(self._descriptor)
            raise OSError("the queues of this kernel are mapped one by one")
        self._shared = mmap.mmap(self._descriptor, size)
        self._jobs = mmap.mmap(self._descriptor, JOB.size * jobs_count, offset=JOBS_OFFSET)
        self._under_way: dict[int, tuple[bytes, Done]] = {}  # The bytes must live until then.
        self._count = 0
        self._event = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        event = ctypes.c_int(self._event)
        self._call(REGISTER, self._descriptor, REGISTER_EVENTFD, ctypes.byref(event), 1)
        asyncio.get_running_loop().add_reader(self._event, self._look)

    def write(self, descriptor: int, position: int, data: bytes, done: Done) -> bool:
        """Begin a durable write; `done` hears from the loop how it went. False: not begun."""
        if len(self._under_way) > self._jobs_mask:
            return False
        self._count += 1
        address = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value
        job = (WRITE, 0, 0, descriptor, position, address, len(data), DURABLY, self._count)
        tail = self._number(self._jobs_tail)
        place = tail & self._jobs_mask
        JOB.pack_into(self._jobs, JOB.size * place, *job)
        NUMBER.pack_into(self._shared, self._places + NUMBER.size * place, place)
        NUMBER.pack_into(self._shared, self._jobs_tail, (tail + 1) & NUMBER_MAX)
        try:
            self._enter(to_begin=1)
        except OSError:  # The kernel is short of something, and has not taken it.
            NUMBER.pack_into(self._shared, self._jobs_tail, tail)
            return False
        self._under_way[self._count] = data, done
        return True

    def close(self) -> None:
        """The loop is gone. What is under way is waited for: the kernel reads our bytes."""
        with suppress(OSError):
            self._enter(to_await=len(self._under_way))
        self._shared.close()
        self._jobs.close()
        os.close(self._event)
        os.close(self._descriptor)

    def _look(self) -> None:
        """Tell of all that was done."""
        os.eventfd_read(self._event)
        while (head := self._number(self._results_head)) != self._number(self._results_tail):
            place = self._results + RESULT.size * (head & self._results_mask)
            job, result, _ = RESULT.unpack_from(self._shared, place)
            NUMBER.pack_into(self._shared, self._results_head, (head + 1) & NUMBER_MAX)
            _, done = self._under_way.pop(job)
            done(result)

    def _enter(self, to_begin: int = 0, to_await: int = 0) -> None:
        self._call(ENTER, self._descriptor, to_begin, to_await, WAITING if to_await else 0, None, 0)

    def _number(self, place: int) -> int:
        number: int = NUMBER.unpack_from(self._shared, place)[0]
        return number

    def _call(self, *arguments: object) -> int:
        result: int = self._system_call(*arguments)
        if result < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return result


_rings: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Ring | None] = (
    weakref.WeakKeyDictionary()
)


def ring_of_loop() -> Ring | None:
    """The ring of the running loop, made when first asked for; None where there can be none."""
    loop = asyncio.get_running_loop()
    if loop not in _rings:
        _rings[loop] = made = _make()
        if made is not None:
            weakref.finalize(loop, made.close)
    return _rings[loop]


def _make() -> Ring | None:
    if sys.platform != "linux":
        return None
    try:
        return Ring()
    except OSError:  # An old kernel, or one that forbids it.
        return None
