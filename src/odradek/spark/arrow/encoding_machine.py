"""The machine that writes records: Arrow's buffers laid out in the program's memory.

Each buffer is copied in once, each batch copied out once; in between no row is looked at here.
"""

from __future__ import annotations

import atexit
from collections.abc import Iterator, Sequence
from functools import cache
from struct import Struct
from typing import NamedTuple

import pyarrow as pa
from pyarrow.compute import subtract

from odradek.kafka.client.errors import TopicPartition
from odradek.spark.arrow.encoding_program import (
    ALL_ASSIGNED,
    COLUMN_BYTES,
    FRAME_BYTES,
    FRAME_COLUMNS,
    STOPPED_AT,
    TOPIC_LINE_BYTES,
    program,
)
from odradek.spark.arrow.rows import Destination, Encoded, Rows, wrong_partition
from odradek.spark.arrow.sandbox import ALIGNMENT, Sandbox

_COLUMN = Struct("<IIII")
_LINE = Struct("<IIII")
_WORD = Struct("<I")
_WORD_MASK = 0xFFFFFFFF
_SLACK = 16  # A copy may read or write this many bytes too many.
NOWHERE = (0, 0, 0, 0)


class _Bits(NamedTuple):
    """Where a validity is, and its first bit; 0: nothing is null."""

    at: int
    first: int


class EncodingMachine:
    """One program with its memory. Not for two threads at once."""

    def __init__(self) -> None:
        self._sandbox = Sandbox(program())
        self.close = self._sandbox.close
        self._used = 0

    def encode(
        self, rows: Rows, destinations: Sequence[Destination], bytes_max: int
    ) -> Iterator[Encoded]:
        """The rows as records, by partition, each in as many batches as it takes."""
        self._used = ALIGNMENT  # Nothing lies at 0, which stands for "nowhere".
        frame, table = self._place_frame(rows), self._place_table(destinations)
        slots = self._take(4 * rows.count)
        self._assign(rows, destinations, bytes_max, (frame, table, slots))
        partitions = [
            TopicPartition(one.topic, number)
            for one in destinations
            for number in range(one.partition_count)
        ]
        ends = self._zeros(4 * len(partitions))
        order = self._take(4 * rows.count)
        self._sandbox.call("group", rows.count, slots, len(partitions), ends, order)
        # One record may be larger than a batch, and its lengths take more than Arrow's ends do.
        out = self._take(bytes_max + 3 * _bytes_of(rows) + 64)
        begin = 0
        for number, partition in enumerate(partitions):
            (end,) = _WORD.unpack_from(self._sandbox.view, ends + 4 * number)
            while begin < end:
                count = self._sandbox.call("encode", order, begin, end, bytes_max, out, frame)
                (stop,) = _WORD.unpack_from(self._sandbox.view, frame + STOPPED_AT)
                yield Encoded(partition, count, bytes(self._sandbox.view[out:stop]))
                begin += count

    def _assign(
        self,
        rows: Rows,
        destinations: Sequence[Destination],
        bytes_max: int,
        places: tuple[int, int, int],
    ) -> None:
        """Let each row have its slot; the sticky partitions move on."""
        frame, table, slots = places
        topics = 0 if rows.topic is None else self._words(rows.topic)
        partitions, bits = 0, _Bits(0, 0)
        if rows.partition is not None:
            partitions, bits = self._words(rows.partition), self._bits(rows.partition)
        wrong = self._sandbox.call(
            "assign", rows.count, frame, topics, table, partitions, *bits, bytes_max, slots
        )
        if wrong != ALL_ASSIGNED:
            raise wrong_partition(rows, wrong, destinations)
        for number, one in enumerate(destinations):
            line = _LINE.unpack_from(self._sandbox.view, table + TOPIC_LINE_BYTES * number)
            _, _, one.sticky.partition, one.sticky.bytes_taken = line

    def _take(self, size: int) -> int:
        start = self._used
        self._used += -(-(size + _SLACK) // ALIGNMENT) * ALIGNMENT
        self._sandbox.reserve(self._used)
        return start

    def _zeros(self, size: int) -> int:
        start = self._take(size)
        self._sandbox.view[start : start + size] = bytes(size)
        return start

    def _put(self, data: memoryview) -> int:
        start = self._take(len(data))
        self._sandbox.view[start : start + len(data)] = data.cast("B")
        return start

    def _place_table(self, destinations: Sequence[Destination]) -> int:
        lines, first = bytearray(), 0
        for one in destinations:
            sticky = one.sticky
            lines += _LINE.pack(first, one.partition_count, sticky.partition, sticky.bytes_taken)
            first += one.partition_count
        return self._put(memoryview(lines))

    def _place_frame(self, rows: Rows) -> int:
        columns = {
            "key": self._octets(rows.key),
            "value": self._octets(rows.value),
            **self._headers(rows.headers),
        }
        frame = self._zeros(FRAME_BYTES)
        for number, name in enumerate(FRAME_COLUMNS):
            at = frame + COLUMN_BYTES * number
            _COLUMN.pack_into(self._sandbox.view, at, *columns.get(name, NOWHERE))
        return frame

    def _words(self, column: pa.Array) -> int:
        """Numbers of 32 bits."""
        start = 4 * column.offset
        return self._put(memoryview(column.buffers()[1])[start : start + 4 * len(column)])

    def _bits(self, column: pa.Array) -> _Bits:
        bits = column.buffers()[0]
        if bits is None or not column.null_count:
            return _Bits(0, 0)
        first_byte, end = column.offset // 8, column.offset + len(column)
        return _Bits(self._put(memoryview(bits)[first_byte : (end + 7) // 8]), column.offset % 8)

    def _ends(self, column: pa.Array) -> tuple[int, int, int]:
        """Where the ends of a column are, its first start and its last end."""
        buffer = column.buffers()[1]
        if not len(column) or buffer is None:
            return self._zeros(4), 0, 0
        start = 4 * column.offset
        words = memoryview(buffer)[start : start + 4 * (len(column) + 1)]
        (first,), (last,) = _WORD.unpack_from(words, 0), _WORD.unpack_from(words, len(words) - 4)
        return self._put(words), first, last

    def _octets(self, column: pa.Array | None) -> tuple[int, int, int, int]:
        if column is None:
            return NOWHERE
        ends, first, last = self._ends(column)
        data = column.buffers()[2]
        at = self._put(memoryview(b"" if data is None else data)[first:last])
        return ends, (at - first) & _WORD_MASK, *self._bits(column)

    def _headers(self, column: pa.Array | None) -> dict[str, tuple[int, int, int, int]]:
        if column is None:
            return {}
        first, last = column.offsets[0].as_py(), column.offsets[len(column)].as_py()
        given = column.values.slice(first, last - first)
        # Headers are numbered from the first that we place.
        ends = self._words(subtract(column.offsets, pa.scalar(first, pa.int32())))
        return {
            "headers": (ends, 0, *self._bits(column)),
            "header_key": self._octets(given.field(0)),
            "header_value": self._octets(given.field(1)),
        }


def _bytes_of(rows: Rows) -> int:
    columns = (rows.key, rows.value, rows.headers)
    return sum(column.get_total_buffer_size() for column in columns if column is not None)


@cache
def encoding_machine() -> EncodingMachine:
    """The machine of this process."""
    made = EncodingMachine()
    atexit.register(made.close)
    return made
