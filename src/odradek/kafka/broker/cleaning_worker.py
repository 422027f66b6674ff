"""A process that cleans logs for a broker: a thread would hold the interpreter that serves clients.

Orders come by stdin and steps leave by stdout, each a pickle behind its length. An order that
comes during a cleaning is heard after a few hundred KiB, or in the midst of a pause. When the
broker is gone, stdin ends, and so does this process; Linux ends it at once, so that it cannot be
at files which the next broker cleans already. What it leaves behind is `.cleaned`, which the next
cleaning or the next start removes.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import sys
from time import monotonic
from typing import BinaryIO, NamedTuple

from odradek.kafka.storage.cleaner import Cleaning
from odradek.kafka.storage.cleaner_steps import CleaningStep, Pace
from odradek.kafka.storage.errors import StorageError
from odradek.kafka.storage.throttle import Throttle
from odradek.runtime.disk import DiskError
from odradek.runtime.os_disk import OsDisk

LENGTH_BYTES = 4
READ_BYTES = 1 << 20
PR_SET_PDEATHSIG = 1  # linux/prctl.h


class Begin(NamedTuple):
    """Clean this, at no more than so many bytes a second."""

    cleaning: Cleaning
    bytes_per_second: float


class Rate(NamedTuple):
    """Go on at another speed."""

    bytes_per_second: float


class Halt(NamedTuple):
    """Stop what is under way; if it has ended already, this changes nothing."""


class Broken(NamedTuple):
    """The disk failed."""

    path: str
    reason: str


Order = Begin | Rate | Halt
Report = CleaningStep | Broken


def frame(value: Order | Report) -> bytes:
    data = pickle.dumps(value)
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


class Orders:
    """What the broker says, read from a pipe."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._data = bytearray()

    def next(self, patience_s: float | None = None) -> Order | None:
        """The next order; None if none comes in this time."""
        while (order := self._take()) is None:
            if not select.select([self._descriptor], [], [], patience_s)[0]:
                return None
            data = os.read(self._descriptor, READ_BYTES)
            if not data:
                raise SystemExit(0)
            self._data += data
        return order

    def _take(self) -> Order | None:
        if len(self._data) < LENGTH_BYTES:
            return None
        end = LENGTH_BYTES + int.from_bytes(self._data[:LENGTH_BYTES], "big")
        if len(self._data) < end:
            return None
        order: Order = pickle.loads(self._data[LENGTH_BYTES:end])
        del self._data[:end]
        return order


class Worker:
    """One cleaning after the other."""

    def __init__(self, orders: Orders, reports: BinaryIO) -> None:
        self._orders = orders
        self._reports = reports
        self._throttle = Throttle(float("inf"))
        self._is_halted = False

    def run(self) -> None:
        """Until the broker is gone."""
        while True:
            order = self._orders.next()
            if isinstance(order, Begin):
                self._clean(order)

    def _clean(self, order: Begin) -> None:
        self._throttle = Throttle(order.bytes_per_second)
        self._is_halted = False
        cleaning = order.cleaning
        try:
            for step in cleaning.run(OsDisk(), Pace(self._wait, self._look_around)):
                self._report(step)
        except DiskError as error:
            self._report(Broken(error.path, error.reason))
        except (StorageError, OSError) as error:
            self._report(Broken(cleaning.directory, str(error)))

    def _report(self, report: Report) -> None:
        self._reports.write(frame(report))
        self._reports.flush()

    def _look_around(self) -> bool:
        while (order := self._orders.next(0.0)) is not None:
            self._heed(order)
        return self._is_halted

    def _wait(self, bytes_count: int) -> None:
        """Keep to the rate; a new one, or an end, is not kept waiting for the old one's pause."""
        pause_ms = self._throttle.pause_ms(bytes_count, monotonic() * 1000)
        if pause_ms and (order := self._orders.next(pause_ms / 1000)) is not None:
            self._heed(order)

    def _heed(self, order: Order) -> None:
        if isinstance(order, Rate):
            self._throttle = Throttle(order.bytes_per_second)
        self._is_halted = self._is_halted or isinstance(order, Halt)


def die_with_the_broker() -> None:
    """Have the kernel kill this process when the one that started it is gone."""
    if sys.platform == "linux":
        import ctypes  # The broker knows this module too, and need not have it.

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> None:
    """What the process does."""
    die_with_the_broker()
    # A terminal's Ctrl-C reaches all processes of the group: the broker says when this one ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    reports, sys.stdout = sys.stdout.buffer, sys.stderr
    Worker(Orders(sys.stdin.fileno()), reports).run()
