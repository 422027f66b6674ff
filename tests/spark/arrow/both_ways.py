"""Record sets decoded both ways, fast and plain, and what comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.fetcher import Fetched
from odradek.spark.arrow.columns import WITH_HEADERS
from odradek.spark.arrow.decoder import decode, machine_batch
from odradek.spark.arrow.errors import UnreadableBatch
from odradek.spark.arrow.machine import machine
from odradek.spark.arrow.reference import reference_batch
from odradek.spark.arrow.selection import select

T = TopicPartition("orders", 3)
FOREVER = 2**62
NAMED = "orders-3, batch from offset "
Rows = list[dict[str, Any]]


def fetched(*batches: bytes | bytearray, start: int = 0, aborted: Any = ()) -> Fetched:
    return Fetched(T, start, memoryview(b"".join(batches)), list(aborted))


def rows_of(batch: pa.RecordBatch) -> Rows:
    """Rows with microseconds for times: Python's own end with the year 9999."""
    at = batch.schema.get_field_index("timestamp")
    if at >= 0:
        batch = batch.set_column(at, "timestamp", batch.column(at).cast(pa.int64()))
    rows: Rows = batch.to_pylist()
    return rows


def fast(what: Fetched, end: int = FOREVER, columns: Sequence[str] = WITH_HEADERS) -> Rows:
    return [row for batch in decode(what, end, columns) for row in rows_of(batch)]


def alone(what: Fetched, end: int = FOREVER, columns: Sequence[str] = WITH_HEADERS) -> Rows:
    """By the machine, with nobody to fall back on."""
    return [
        row
        for run in select(what, end)
        for row in rows_of(machine_batch(machine(), T, run, what.start, end, columns))
    ]


def plain(what: Fetched, end: int = FOREVER, columns: Sequence[str] = WITH_HEADERS) -> Rows:
    runs = select(what, end)
    batches = (reference_batch(T, run, what.start, end, columns) for run in runs)
    return [row for batch in batches for row in rows_of(batch)]


def outcome(way: Any, what: Fetched) -> Rows | str:
    try:
        rows: Rows = way(what)
    except UnreadableBatch as error:
        return str(error)
    return rows


def check_agreement(data: memoryview) -> Rows | str:
    """Both ways must give the same rows, or an error that names the offset; give what they do."""
    what = Fetched(T, 0, data, [])
    expected, found = outcome(plain, what), outcome(fast, what)
    if isinstance(expected, str):
        assert isinstance(found, str), f"rows, where the reference says: {expected}"
        assert found.startswith(NAMED), found
    else:
        assert found == expected, f"{found} and not {expected}"
    return expected
