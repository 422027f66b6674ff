"""A cleaner in a process of its own, as the broker sees it.

The process is started when it is first needed. To kill it is to crash it, which the files are
made for, and so an end of the broker need not wait.
"""

from __future__ import annotations

import asyncio
import pickle
import sys
from asyncio.subprocess import PIPE, Process

from odradek.kafka.broker.cleaning_worker import (
    LENGTH_BYTES,
    Begin,
    Broken,
    Halt,
    Order,
    Rate,
    Report,
    frame,
    main,
)
from odradek.kafka.storage.cleaner import Cleaning
from odradek.kafka.storage.cleaner_steps import CleaningStep
from odradek.runtime.disk import DiskBroken
from odradek.runtime.errors import OdradekError


class NoCleaner(OdradekError):
    """The machine has no room for another process now; that is no fault of the log."""


class CleanerDied(OdradekError):
    """The process ended in the midst of its work; its last words are on stderr."""


class CleanerProcess:
    """One worker; it cleans one log at a time."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._bytes_per_second = float("inf")

    async def begin(self, cleaning: Cleaning) -> None:
        """Begin, at the rate that was set last."""
        if self._process is None or self._process.returncode is not None:
            # With -m its classes would be those of `__main__`, and no pickle would know them.
            program = f"from {main.__module__} import main; main()"
            # Without -P a module of the working directory could stand for one of Python's own.
            command = (sys.executable, "-P", "-c", program)
            try:
                start = asyncio.create_subprocess_exec
                self._process = await start(*command, stdin=PIPE, stdout=PIPE)
            except OSError as error:
                raise NoCleaner(f"no process can be started: {error}") from error
        self._tell(Begin(cleaning, self._bytes_per_second))

    async def step(self) -> CleaningStep:
        """What comes next of the cleaning that was begun."""
        assert self._process is not None and self._process.stdout is not None
        stdout = self._process.stdout
        try:
            size = int.from_bytes(await stdout.readexactly(LENGTH_BYTES), "big")
            report: Report = pickle.loads(await stdout.readexactly(size))
        except asyncio.IncompleteReadError:
            code = await self._process.wait()
            raise CleanerDied(f"the cleaner's process ended by itself: {code}") from None
        if isinstance(report, Broken):
            raise DiskBroken(report.path, report.reason)
        return report

    def set_rate(self, bytes_per_second: float) -> None:
        self._bytes_per_second = bytes_per_second
        self._tell(Rate(bytes_per_second))

    def halt(self) -> None:
        """Let what is under way end soon; its last step says so."""
        self._tell(Halt())

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()

    def _tell(self, order: Order) -> None:
        process = self._process
        if process is None or process.stdin is None or process.returncode is not None:
            return
        if not process.stdin.is_closing():
            process.stdin.write(frame(order))
