"""What commands say: JSON for programs, a table for people.

The JSON of a command is one value on one line, or one a record where there is no end. Its keys are
promised: they are only ever added to.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

MISSING = "-"


def say_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False), flush=True)


def table(rows: Iterable[Sequence[Any]], *columns: str) -> None:
    """Rows under their headings; numbers stand right. Off a terminal, none is cut."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    listed = [list(row) for row in rows]
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for place, name in enumerate(columns):
        is_number = bool(listed) and all(isinstance(row[place], int | float) for row in listed)
        drawn.add_column(name, justify="right" if is_number else "left", no_wrap=True)
    for row in listed:
        drawn.add_row(*(Text(text_of(value)) for value in row))
    width = None if sys.stdout.isatty() else 10_000
    Console(width=width, highlight=False).print(drawn)


def text_of(value: Any) -> str:
    if value is None:
        return MISSING
    if isinstance(value, list | tuple):
        return ",".join(map(str, value)) or MISSING
    return str(value)


def say(text: str) -> None:
    print(text, flush=True)
