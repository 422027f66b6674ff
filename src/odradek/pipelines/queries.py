"""Streaming queries, watched: what they tell of themselves, and their end."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odradek.pipelines.progress import Listener, of_query

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

LOOK_EACH_S = 1


@dataclass(slots=True)
class Watched:
    """The rows and batches of a query so far."""

    rows: int = 0
    batches: int = 0
    last_batch: int = -1


def watch(
    query: StreamingQuery,
    pipeline: str,
    progress: Listener,
    stop: threading.Event,
    rows_before: int = 0,
    batches_max: int | None = None,
) -> Watched:
    """Tell of a query until it ends; end it when asked to, or after so many batches."""
    seen = Watched()
    try:
        while not query.awaitTermination(LOOK_EACH_S):
            _hear(query, seen, pipeline, progress, rows_before)
            is_enough = batches_max is not None and seen.batches >= batches_max
            if stop.is_set() or is_enough:
                break
    finally:
        query.stop()
    _hear(query, seen, pipeline, progress, rows_before)
    return seen


def _hear(
    query: StreamingQuery, seen: Watched, pipeline: str, progress: Listener, rows_before: int
) -> None:
    for said in query.recentProgress:
        entry: Mapping[str, Any] = said
        rows, batch = int(entry.get("numInputRows") or 0), int(entry["batchId"])
        if batch <= seen.last_batch or not rows:
            continue
        progress(of_query(pipeline, rows_before + seen.rows, entry))
        seen.rows += rows
        seen.batches += 1
        seen.last_batch = batch
