"""What pipelines say on a terminal, and what they say elsewhere."""

from __future__ import annotations

import json
import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

if TYPE_CHECKING:
    from odradek.pipelines import Audit
    from odradek.pipelines import Progress as Told

ROWS_SHOWN = 20


class Report:
    """Progress on standard error: a bar on a terminal, lines elsewhere."""

    def __init__(self, pipeline: str) -> None:
        self._pipeline = pipeline
        self._console = Console(stderr=True)
        self._bar: Progress | None = None
        self._task: Any = None

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bar = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[told]}"),
                TimeElapsedColumn(),
                console=self._console,
            )
            self._task = self._bar.add_task(self._pipeline, total=None, told="Spark starts")
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def tell(self, told: Told) -> None:
        """Show how far it is."""
        if self._bar is None:
            print(told, file=sys.stderr, flush=True)
            return
        total = None if told.left is None else told.done + told.left
        lag = "" if told.left is None else f", {told.left:,} behind"
        text = f"{told.done:,} rows, {told.rows_per_s:,.0f} rows/s{lag}"
        self._bar.update(self._task, completed=told.done, total=total, told=text)


def print_result(found: dict[str, Any], as_json: bool) -> None:
    """What a pipeline has done."""
    if as_json:
        print(json.dumps(found))
        return
    table = Table(show_header=False, box=None)
    for name, value in found.items():
        if value not in (None, {}, []):
            table.add_row(name.replace("_", " "), shown(value))
    Console().print(table)


def shown(value: Any) -> str:
    if isinstance(value, dict):
        return "\n".join(f"{key}: {shown(one)}" for key, one in value.items())
    if isinstance(value, float):
        return f"{value:.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def print_audit(found: Audit, as_json: bool) -> None:
    """What an audit has found, worst last: that is what remains on the screen."""
    if as_json:
        print(json.dumps(found.to_json()))
        return
    console = Console()
    console.print(partitions_table(found))
    if found.lags:
        table = Table("group", "partition", "committed", "end", "lag", title="Groups")
        for lag in found.lags:
            where = f"{lag.topic}-{lag.partition}"
            table.add_row(lag.group, where, *map(shown, (lag.committed, lag.end, lag.lag)))
        console.print(table)
    for title, rows in places(found):
        table = Table(title=title, show_header=False)
        for row in rows[:ROWS_SHOWN]:
            table.add_row(*row)
        console.print(table)
    for note in found.notes:
        console.print(f"note: {note}", markup=False)
    for problem in found.problems:
        console.print(f"wrong: {problem}", style="red", markup=False)
    if not found.problems:
        console.print(f"nothing is wrong with {found.records:,} records", style="green")


def partitions_table(found: Audit) -> Table:
    names = ("partition", "first", "last", "records", "markers", "missing", "twice", "disorder")
    table = Table(*names, title=f"Audit of {found.source}")
    for one in found.partitions:
        numbers = (
            one.first,
            one.last,
            one.records,
            one.markers,
            one.missing + one.producer_missing,
            one.offsets_twice + one.producer_duplicates,
            one.producer_disorder,
        )
        table.add_row(f"{one.topic}-{one.partition}", *map(shown, numbers))
    return table


def places(found: Audit) -> list[tuple[str, list[tuple[str, ...]]]]:
    """Where things are that need a look."""
    gaps = [(f"{g.topic}-{g.partition}", f"{g.first} to {g.last}", g.kind) for g in found.gaps]
    repeated = [
        (one.topic, one.identity, f"{one.count} times", ", ".join(one.offsets))
        for one in found.repeated
    ]
    jumps = [
        (one.topic, str(one.key), f"{one.before} then {one.after}", f"{one.partition}:{one.offset}")
        for one in found.jumps
    ]
    titled: list[tuple[str, list[tuple[str, ...]]]] = [
        ("Gaps", [*gaps]),
        ("There more than once", [*repeated]),
        ("Out of sequence", [*jumps]),
    ]
    return [(title, rows) for title, rows in titled if rows]
