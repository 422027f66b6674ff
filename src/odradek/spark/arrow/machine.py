"""The machine that runs the program: its memory, and what is laid out there before each run.

The plain records of all batches lie one after another, then the table of batches, then the
columns, each large enough for the worst that its input could be. Arrow arrays are views of that
memory: they are good until the next run, which is what Spark needs, for it sends each batch on
before it asks for another.
"""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from functools import cache
from struct import Struct

import pyarrow as pa

from odradek.kafka.wire.batch import Batch
from odradek.kafka.wire.batch_errors import InvalidRecord
from odradek.kafka.wire.compression import Codec, decompress
from odradek.spark.arrow.columns import HEADER, TYPES, VARYING
from odradek.spark.arrow.program import (
    COPY_SLACK,
    NO_APPEND_TIME,
    OUT_BYTES,
    OUT_FIELDS,
    OUT_POINTERS,
    TABLE_LINE,
    TABLE_LINE_BYTES,
    WANT_HEADERS,
    WANT_KEY,
    WANT_VALUE,
    program,
)
from odradek.spark.arrow.sandbox import ALIGNMENT, Sandbox
from odradek.spark.arrow.selection import RECORD_BYTES_MIN

_OFFSET_MAX = 2**63 - 1 - 2**31
_LINE = Struct(TABLE_LINE)
_OUT = Struct(f"<{len(OUT_FIELDS)}I")
_BYTES_WANTED = {"key": WANT_KEY, "value": WANT_VALUE, "headers": WANT_HEADERS}


class Failed(InvalidRecord):
    """The program refused a batch; the reference knows why."""

    def __init__(self, batch: int) -> None:
        super().__init__(f"batch {batch} makes no sense")
        self.batch = batch


class Machine:
    """One program with its memory. Not for two threads at once."""

    def __init__(self) -> None:
        self._sandbox = Sandbox(program())
        self.close = self._sandbox.close

    @property
    def _view(self) -> memoryview:
        return self._sandbox.view

    def decode(
        self, batches: Sequence[Batch], low: int, high: int, columns: Sequence[str]
    ) -> tuple[int, dict[str, pa.Array]]:
        """The number of records in [low, high), and those columns that differ between them."""
        plain = [plain_records(batch) for batch in batches]
        want = sum(bit for name, bit in _BYTES_WANTED.items() if name in columns)
        layout = Layout(sum(map(len, plain)), len(batches), rows_max(batches), want)
        self._sandbox.reserve(layout.size)
        self._place(layout, batches, plain)
        rows = self._sandbox.call(
            "decode", layout.table, len(batches), low, high, want, layout.pointers_at
        )
        out = dict(zip(OUT_FIELDS, _OUT.unpack_from(self._view, layout.pointers_at), strict=True))
        if rows < 0:
            raise Failed(out["failed_batch"])
        return rows, {name: self._column(name, rows, out) for name in columns if name in VARYING}

    def _place(self, layout: Layout, batches: Sequence[Batch], plain: list[memoryview]) -> None:
        """Write the input: the records, the table, where to put what, and bare bitmaps."""
        view, position, line = self._view, layout.records, layout.table
        for batch, records in zip(batches, plain, strict=True):
            start, position = position, position + len(records)
            view[start:position] = records
            time = batch.max_timestamp if batch.is_append_time else NO_APPEND_TIME
            count = batch.record_count
            base = batch.base_offset, batch.base_timestamp, time
            _LINE.pack_into(view, line, start, position, *base, count, 0)
            line += TABLE_LINE_BYTES
        rest = [0] * (len(OUT_FIELDS) - len(OUT_POINTERS))
        _OUT.pack_into(view, layout.pointers_at, *layout.pointers.values(), *rest)
        for name, size in layout.zeros.items():
            start = layout.pointers[name]
            view[start : start + size] = bytes(size)

    def _buffer(self, start: int, size: int) -> pa.Buffer:
        return pa.py_buffer(self._view[start : start + size])

    def _column(self, name: str, rows: int, out: dict[str, int]) -> pa.Array:
        if name in ("offset", "timestamp"):
            buffers = [None, self._buffer(out[name], 8 * rows)]
            return pa.Array.from_buffers(TYPES[name], rows, buffers, 0)
        if name == "headers":
            return self._headers(rows, out)
        return self._octets(name, pa.binary(), rows, out)

    def _octets(self, name: str, kind: pa.DataType, count: int, out: dict[str, int]) -> pa.Array:
        nulls = out.get(f"{name}_nulls", 0)
        buffers = [
            self._buffer(out[f"{name}_validity"], (count + 7) // 8) if nulls else None,
            self._buffer(out[f"{name}_ends"], 4 * (count + 1)),
            self._buffer(out[f"{name}_data"], out[f"{name}_size"]),
        ]
        return pa.Array.from_buffers(kind, count, buffers, nulls)

    def _headers(self, rows: int, out: dict[str, int]) -> pa.Array:
        count, nulls = out["headers_size"], out["headers_nulls"]
        keys = self._octets("header_key", pa.string(), count, out)
        values = self._octets("header_value", pa.binary(), count, out)
        keys.validate(full=True)  # Is it UTF-8?
        headers = pa.StructArray.from_arrays([keys, values], fields=list(HEADER))
        buffers = [
            self._buffer(out["headers_validity"], (rows + 7) // 8) if nulls else None,
            self._buffer(out["headers_ends"], 4 * (rows + 1)),
        ]
        return pa.Array.from_buffers(TYPES["headers"], rows, buffers, nulls, children=[headers])


class Layout:
    """Where in the machine's memory everything is, for one run."""

    def __init__(self, records_bytes: int, batch_count: int, rows: int, want: int) -> None:
        self.size = ALIGNMENT  # Nothing lies at 0, which stands for "nowhere".
        self.zeros: dict[str, int] = {}
        self.pointers: dict[str, int] = {}
        self.records = self._take(records_bytes)
        self.table = self._take(batch_count * TABLE_LINE_BYTES)
        self.pointers_at = self._take(OUT_BYTES)
        self._column("offset", 8 * rows)
        self._column("timestamp", 8 * rows)
        self._octets("key", records_bytes if want & WANT_KEY else 0, rows)
        self._octets("value", records_bytes if want & WANT_VALUE else 0, rows)
        # A header takes two bytes at the least.
        bytes_max = records_bytes if want & WANT_HEADERS else 0
        self._ends("headers", rows)
        self._validity("headers", rows)
        self._octets("header_key", bytes_max, bytes_max // 2, is_nullable=False)
        self._octets("header_value", bytes_max, bytes_max // 2)
        assert tuple(self.pointers) == OUT_POINTERS

    def _take(self, size: int) -> int:
        start = self.size
        self.size += -(-(size + COPY_SLACK) // ALIGNMENT) * ALIGNMENT
        return start

    def _column(self, name: str, size: int) -> None:
        self.pointers[name] = self._take(size)

    def _ends(self, name: str, count: int) -> None:
        self._column(f"{name}_ends", 4 * (count + 1))
        self.zeros[f"{name}_ends"] = 4

    def _validity(self, name: str, count: int) -> None:
        self.zeros[f"{name}_validity"] = (count + 7) // 8
        self._column(f"{name}_validity", (count + 7) // 8)

    def _octets(self, name: str, size: int, count: int, *, is_nullable: bool = True) -> None:
        self._ends(name, count)
        if is_nullable:
            self._validity(name, count)
        self._column(f"{name}_data", size)


def plain_records(batch: Batch) -> memoryview:
    """The records of a batch, decompressed, if they can be as many as the batch says."""
    if abs(batch.base_offset) > _OFFSET_MAX:
        raise InvalidRecord(f"records from offset {batch.base_offset} on")
    plain = batch.records
    if batch.codec is not Codec.NONE:
        plain = memoryview(decompress(batch.codec, batch.records))
    if not 0 < batch.record_count <= len(plain) // RECORD_BYTES_MIN:
        raise InvalidRecord(f"{batch.record_count} records in {len(plain)} bytes")
    return plain


def rows_max(batches: Sequence[Batch]) -> int:
    return sum(batch.record_count for batch in batches)


@cache
def machine() -> Machine:
    """The machine of this process."""
    made = Machine()
    # Left to the end of the interpreter, its parts would be gone in any order, and complain.
    atexit.register(made.close)
    return made
