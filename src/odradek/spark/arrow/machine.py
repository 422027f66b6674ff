"""The machine that runs the program: its memory, and what is laid out there before each run.

First comes room that is lent to whoever fetches: records that lie there are read where they are.
Others, and those that were compressed, are put behind it. Then come the table of batches and the
columns, each large enough for the worst that its input could be. Arrow arrays are views of that
memory: they are good until the next run, which is what Spark needs, for it sends each batch on
before it asks for another.
"""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from functools import cache
from struct import Struct
from sys import maxsize

import pyarrow as pa

from odradek.kafka.wire.batch import Batch
from odradek.kafka.wire.batch_errors import InvalidRecord
from odradek.kafka.wire.compression import DECOMPRESSED_BYTES_MAX, Codec, decompress
from odradek.kafka.wire.lz4_frame import decompress_into
from odradek.spark.arrow.columns import HEADER, TYPES, VARYING
from odradek.spark.arrow.program import (
    COPY_SLACK,
    GIVEN,
    GIVEN_BYTES,
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

ROOM_BYTES_MAX = 256 * 1024 * 1024
CAN_LEND = maxsize > 2**32  # Else the memory may move when it grows, and leave a lender behind.
_OFFSET_MAX = 2**63 - 1 - 2**31
_GIVEN = Struct(GIVEN)
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
        self._room = range(ALIGNMENT, ALIGNMENT)  # Nothing lies at 0, which stands for "nowhere".
        self._records_end = ALIGNMENT
        self.close = self._sandbox.close

    @property
    def _view(self) -> memoryview:
        return self._sandbox.view

    def lend_room(self, size: int) -> memoryview | None:
        """Room within the memory for so many bytes; what was lent before is taken back."""
        if not CAN_LEND or size > ROOM_BYTES_MAX:
            return None
        start = self._room.start
        self._room = range(start, start + room_for(size))
        self._sandbox.reserve(self._room.stop)
        return self._view[start : start + size]

    def decode(
        self, batches: Sequence[Batch], low: int, high: int, columns: Sequence[str]
    ) -> tuple[int, dict[str, pa.Array]]:
        """The number of records in [low, high), and those columns that differ between them."""
        places = self._place_records(batches)
        want = sum(bit for name, bit in _BYTES_WANTED.items() if name in columns)
        layout = Layout(self._records_end, list(map(len, places)), rows_max(batches), want)
        self._sandbox.reserve(layout.size)
        self._place(layout, batches, places)
        given = layout.table, len(batches), low, high, want, layout.pointers_at
        _GIVEN.pack_into(self._view, layout.given, *given)
        rows = self._sandbox.call("decode", layout.given)
        out = dict(zip(OUT_FIELDS, _OUT.unpack_from(self._view, layout.pointers_at), strict=True))
        if rows < 0:
            raise Failed(out["failed_batch"])
        return rows, {name: self._column(name, rows, out) for name in columns if name in VARYING}

    def _place_records(self, batches: Sequence[Batch]) -> list[range]:
        """Where the plain records of each batch are, once they are in the memory."""
        self._records_end = self._room.stop
        return [self._place_batch(batch) for batch in batches]

    def _place_batch(self, batch: Batch) -> range:
        if abs(batch.base_offset) > _OFFSET_MAX:
            raise InvalidRecord(f"records from offset {batch.base_offset} on")
        codec, records = batch.codec, batch.records
        if codec is Codec.NONE:
            place = self._place_of(records) or self._copy(records)
        elif codec is Codec.LZ4:
            start = self._records_end
            size = decompress_into(records, DECOMPRESSED_BYTES_MAX, self._room_until)
            place = self._take(range(start, start + size))
        else:
            place = self._copy(memoryview(decompress(codec, records)))
        if not 0 < batch.record_count <= len(place) // RECORD_BYTES_MIN:
            raise InvalidRecord(f"{batch.record_count} records in {len(place)} bytes")
        return place

    def _place_of(self, records: memoryview) -> range | None:
        """Where in lent room these are, or None if they are elsewhere."""
        start = pa.py_buffer(records).address - self._sandbox.address
        return range(start, start + len(records)) if start in self._room else None

    def _copy(self, records: memoryview) -> range:
        start, end = self._records_end, self._records_end + len(records)
        self._room_until(len(records))[:] = records
        return self._take(range(start, end))

    def _room_until(self, size: int) -> memoryview:
        """Room for so many bytes behind the records that are here."""
        start = self._records_end
        self._sandbox.reserve(start + size)
        return self._view[start : start + size]

    def _take(self, place: range) -> range:
        self._records_end = place.stop
        return place

    def _place(self, layout: Layout, batches: Sequence[Batch], places: Sequence[range]) -> None:
        """Write the table, where to put what, and bare bitmaps."""
        view, line = self._view, layout.table
        for batch, place in zip(batches, places, strict=True):
            time = batch.max_timestamp if batch.is_append_time else NO_APPEND_TIME
            count = batch.record_count
            base = batch.base_offset, batch.base_timestamp, time
            _LINE.pack_into(view, line, place.start, place.stop, *base, count, 0)
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

    def __init__(self, start: int, sizes: Sequence[int], rows: int, want: int) -> None:
        """`start` is where there is room; `sizes` are those of the records of each batch."""
        self.size = room_for(start)  # And what a copy reads beyond the records.
        records_bytes = sum(sizes)
        self.zeros: dict[str, int] = {}
        self.pointers: dict[str, int] = {}
        self.table = self._take(len(sizes) * TABLE_LINE_BYTES)
        self.given = self._take(GIVEN_BYTES)
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
        self.size += room_for(size)
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


def room_for(size: int) -> int:
    """How much is set aside for so many bytes."""
    return -(-(size + COPY_SLACK) // ALIGNMENT) * ALIGNMENT


def rows_max(batches: Sequence[Batch]) -> int:
    return sum(batch.record_count for batch in batches)


@cache
def machine() -> Machine:
    """The machine of this process."""
    made = Machine()
    # Left to the end of the interpreter, its parts would be gone in any order, and complain.
    atexit.register(made.close)
    return made
