"""How far a pipeline has come: what it tells whoever wants to hear it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from odradek.spark.offsets import Offsets, from_json


@dataclass(frozen=True, slots=True)
class Progress:
    """The rows that are done since the start, those that are known to be left, and the pace."""

    pipeline: str
    done: int
    left: int | None = None  # None: not known.
    rows_per_s: float = 0.0

    def __str__(self) -> str:
        lag = "" if self.left is None else f", {self.left:,} behind"
        return f"{self.pipeline}: {self.done:,} rows, {self.rows_per_s:,.0f} rows/s{lag}"


Listener = Callable[[Progress], None]


def nobody(progress: Progress) -> None:
    """Who does not want to hear it."""


def of_query(pipeline: str, done: int, said: Mapping[str, Any]) -> Progress:
    """What one entry of a streaming query's progress says, after `done` rows before it."""
    rows = int(said.get("numInputRows") or 0)
    pace = float(said.get("processedRowsPerSecond") or 0.0)
    sources = said.get("sources") or []
    return Progress(pipeline, done + rows, _left(sources[0]) if sources else None, pace)


def _left(source: Mapping[str, Any]) -> int | None:
    end, latest = offsets_of(source.get("endOffset")), offsets_of(source.get("latestOffset"))
    if end is None or latest is None:
        return None
    return sum(max(0, offset - end.get(where, 0)) for where, offset in latest.items())


def offsets_of(written: Any) -> Offsets | None:
    """Spark shows offsets as text or, where it can, as what the text says; None: not of topics."""
    try:
        said = json.loads(written) if isinstance(written, str) else written
        return from_json(said) if isinstance(said, Mapping) else None
    except (AttributeError, TypeError, ValueError):
        return None  # Other sources count otherwise.
