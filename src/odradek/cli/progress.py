"""A bar on stderr that says how much there was and how fast; nothing where nobody looks."""

from __future__ import annotations

import sys
from time import monotonic
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

DRAW_EVERY_S = 0.2
MEBIBYTE = 1024 * 1024


class Meter:
    """Counts records and bytes; `total` is how many records there will be, if that is known."""

    def __init__(
        self, verb: str, *, total: int | None = None, is_wanted: bool | None = None
    ) -> None:
        self._verb = verb
        self._total = total
        is_seen = sys.stderr.isatty() and not sys.stdout.isatty()
        self._is_wanted = is_seen if is_wanted is None else is_wanted
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self.records = self.bytes = 0
        self._began = self._drawn = monotonic()

    def __enter__(self) -> Self:
        if self._is_wanted:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

            self._progress = Progress(
                SpinnerColumn(),
                BarColumn(),
                TextColumn("{task.description}"),
                console=Console(stderr=True),
            )
            self._task = self._progress.add_task(self._verb, total=self._total)
            self._progress.start()
        return self

    def __exit__(self, *reason: object) -> None:
        if self._progress is not None:
            self._draw()
            self._progress.stop()

    def add(self, records: int, size: int) -> None:
        self.records += records
        self.bytes += size
        if self._progress is not None and monotonic() - self._drawn > DRAW_EVERY_S:
            self._draw()

    @property
    def seconds(self) -> float:
        return max(monotonic() - self._began, 1e-9)

    def text(self) -> str:
        """How much and how fast."""
        rate, speed = self.records / self.seconds, self.bytes / MEBIBYTE / self.seconds
        return f"{self._verb} {self.records:,} records, {rate:,.0f}/s, {speed:.1f} MiB/s"

    def _draw(self) -> None:
        assert self._progress is not None and self._task is not None
        self._drawn = monotonic()
        self._progress.update(self._task, completed=self.records, description=self.text())
