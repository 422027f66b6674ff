"""How a query stands, as it is told to others: one record, by the query's id, in JSON; pure.

Where it is (offsets), how fast it is, and whether it still runs. How far it is behind is for the
reader to say: ends of partitions move while nobody tells of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from odradek.pipelines.progress import Progress, offsets_of
from odradek.spark.offsets import Json, Offsets, from_json, to_json

TOPIC = "__odradek_pipelines"


@dataclass(frozen=True, slots=True)
class Standing:
    """What a query, or a pipeline that is none, has told last."""

    query: str
    name: str
    time_ms: int
    is_running: bool = True
    batch: int = -1
    rows: int = 0  # Since it was started.
    rows_per_s: float = 0.0
    arriving_per_s: float = 0.0
    offsets: Json = field(default_factory=dict)  # Where it goes on from.
    left: int | None = None  # How many rows it knew to be left; None: it did not say.
    sink: str = ""
    trouble: str = ""  # What it ended with.

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def positions(self) -> Offsets:
        return from_json(self.offsets)

    def ended(self, time_ms: int, trouble: str = "") -> Standing:
        return replace(self, is_running=False, time_ms=time_ms, rows_per_s=0.0, trouble=trouble)


def standing_from_json(said: Mapping[str, Any]) -> Standing:
    """The other way; KeyError, TypeError or ValueError if it is nothing of ours."""
    known = {name: said[name] for name in Standing.__dataclass_fields__ if name in said}
    found = Standing(**known)
    found.positions()  # What cannot be read is not to be found out by a page.
    return found


def after_batch(before: Standing, said: Mapping[str, Any], time_ms: int) -> Standing:
    """How a query stands after an entry of its progress, as Spark writes it."""
    found: Offsets = {}
    for source in said.get("sources") or []:
        found |= offsets_of(source.get("endOffset")) or {}
    return replace(
        before,
        name=said.get("name") or before.name,
        time_ms=time_ms,
        is_running=True,
        batch=int(said.get("batchId", before.batch)),
        rows=before.rows + int(said.get("numInputRows") or 0),
        rows_per_s=float(said.get("processedRowsPerSecond") or 0.0),
        arriving_per_s=float(said.get("inputRowsPerSecond") or 0.0),
        offsets=to_json(found) if found else before.offsets,
        sink=str((said.get("sink") or {}).get("description") or before.sink),
    )


def after_round(before: Standing, said: Progress, time_ms: int) -> Standing:
    """The same for a pipeline that is no query of Spark's."""
    return replace(
        before,
        name=said.pipeline,
        time_ms=time_ms,
        is_running=True,
        rows=said.done,
        rows_per_s=said.rows_per_s,
        left=said.left,
    )
