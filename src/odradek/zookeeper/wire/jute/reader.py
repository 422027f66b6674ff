"""Readers: one function per record, written out for its fields.

Fixed-size neighbours, and the length that follows them, are read by one `struct`. Nothing checks
each field against the end: a slice that comes out short moves the position past the end, where
the next `struct` or the last comparison refuses it. Two things cannot wait for that. A negative
length would move the position backwards, so all but -1 are refused; and a count is compared with
what its items must take at least, so that it costs nothing unless its bytes are really there.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import calcsize
from struct import error as struct_error
from typing import TYPE_CHECKING, Any, NoReturn

from odradek.runtime.errors import ProtocolError
from odradek.runtime.source import Source
from odradek.zookeeper.wire.jute.shapes import (
    Blob,
    Fixed,
    Inner,
    LastBool,
    Many,
    Shape,
    Text,
    Usual,
    least_bytes,
    shapes_of,
)
from odradek.zookeeper.wire.jute.writer import encode_shape

if TYPE_CHECKING:
    from odradek.zookeeper.wire.jute.record import Record

BROKEN_BYTES = (struct_error, IndexError)
# Java reads any bytes as text, with a mark where they are none; no znode may have it in its path.
DECODED = ".decode('utf-8', 'replace')"


def compile_reader(
    record_type: type[Record], header: type[Record] | None = None, envelope: type | None = None
) -> Callable[..., Any]:
    """A function that reads this record.

    Alone it is `read(data, position=0) -> (record, end)`. With a header it is `read(data) ->
    envelope`: the header's fields, the `record` and the `frame` itself go straight into the
    slots of a new `envelope`, an instance of a class that has them.
    """
    fields = _Fields(record_type.__name__, "0" if envelope else "position")
    source = fields.source
    with source.block(f"def read(data{'' if envelope else ', position=0'}):"):
        with source.block("try:"):
            if header and envelope:
                fields.start_envelope(header, envelope)
            fields.read_record("record", record_type)
            fields.finish()
            if envelope:
                source.line("envelope.record = record")
            source.line("return envelope" if envelope else f"return record, {fields.place()}")
        with source.block("except BROKEN_BYTES as error:"):
            source.line(f"refuse(f'{record_type.__name__}: {{error}}', error)")
    return source.compile("read", f"jute {record_type.__name__} reader")


def _refuse(why: str, cause: Exception | None = None) -> NoReturn:
    raise ProtocolError(why) from cause


class _Fields:
    """The text that reads the fields so far, and where in the bytes it has come to."""

    def __init__(self, title: str, base: str) -> None:
        self.source = Source()
        self.source.names.update(new=object.__new__, refuse=_refuse, BROKEN_BYTES=BROKEN_BYTES)
        self._title = title
        self._base = base  # A variable that holds a position, or "0"...
        self._offset = 0  # ...and how far beyond it we are.
        self._run: list[tuple[str, str]] = []  # Fixed fields not read yet: code and target.
        self._may_be_past_the_end = False

    def place(self) -> str:
        """The present position as an expression."""
        if self._base == "0":
            return str(self._offset)
        return f"{self._base} + {self._offset}" if self._offset else self._base

    def start_envelope(self, header: type[Record], envelope: type) -> None:
        self.source.line(f"envelope = new({self.source.see(envelope)})")
        self.source.line("envelope.frame = data")
        for name, shape in shapes_of(header):
            self._read(f"envelope.{name}", "", shape)

    def read_record(self, variable: str, record_type: type[Record]) -> None:
        self.source.line(f"{variable} = new({self.source.see(record_type)})")
        for name, shape in shapes_of(record_type):
            self._read(f"{variable}.{name}", f"{variable}_{name}", shape)

    def finish(self) -> None:
        """Read what is left, and make sure that it was all there."""
        self._flush()
        if self._may_be_past_the_end:
            with self.source.block(f"if {self.place()} > len(data):"):
                self.source.line(f"refuse('{self._title}: it has more bytes than there are')")

    def _read(self, target: str, variable: str, shape: Shape) -> None:
        """Read one thing into `target`; `variable` is a free name for what it needs meanwhile."""
        match shape:
            case Fixed(code):
                self._run.append((code, target))
            case LastBool():
                self._read_last_bool(target)
            case Text(is_nullable):
                self._read_sized(target, DECODED, is_nullable)
            case Blob(is_nullable):
                self._read_sized(target, "", is_nullable)
            case Many(item, is_nullable):
                self._read_many(target, variable, item, is_nullable)
            case Inner(record_type):
                self.read_record(variable, record_type)
                if target != variable:
                    self.source.line(f"{target} = {variable}")
            case Usual(usual_shape, value):
                self._read_usual(target, variable, usual_shape, value())

    def _flush(self) -> None:
        """Read all waiting fixed fields at once."""
        if not self._run:
            return
        codes = "".join(code for code, _ in self._run)
        targets = ", ".join(target for _, target in self._run)
        if codes == "?":
            self.source.line(f"{targets} = data[{self.place()}] != 0")
        else:
            comma = "," if len(codes) == 1 else ""
            where = "data" if self.place() == "0" else f"data, {self.place()}"
            self.source.line(f"{targets}{comma} = {self.source.unpack(codes)}({where})")
        self._offset += calcsize(">" + codes)
        self._run.clear()
        self._may_be_past_the_end = False

    def _move_to_variable(self) -> None:
        """Have `position` hold the position, as a loop or a branch needs it."""
        if (self._base, self._offset) != ("position", 0):
            self.source.line(f"position = {self.place()}")
        self._base, self._offset = "position", 0

    def _read_sized(self, target: str, conversion: str, is_nullable: bool) -> None:
        source = self.source
        self._run.append(("i", "size"))
        self._flush()
        start = self.place()
        if self._base != "0":
            source.line(f"start = {start}")
            start = "start"
        with source.block("if size < 0:"):
            self._accept_null("size", target, is_nullable)
            source.line(f"position = {start}")
        with source.block("else:"):
            source.line(f"position = {start} + size")
            source.line(f"{target} = data[{start}:position]{conversion}")
        self._base, self._offset = "position", 0
        self._may_be_past_the_end = True

    def _accept_null(self, size: str, target: str, is_nullable: bool) -> None:
        if not is_nullable:
            self.source.line(
                f"refuse(f'{self._title}: {target} is null or has a length of {{{size}}}')"
            )
            return
        with self.source.block(f"if {size} != -1:"):
            self.source.line(f"refuse(f'{self._title}: {target} has a length of {{{size}}}')")
        self.source.line(f"{target} = None")

    def _read_many(self, target: str, variable: str, item: Shape, is_nullable: bool) -> None:
        source = self.source
        self._run.append(("i", "count"))
        self._flush()
        self._move_to_variable()
        with source.block("if count == -1:"):
            self._accept_null("count", target, is_nullable)
        with source.block("else:"):
            # To the original any other count below zero is none.
            with source.block(f"if count * {least_bytes(item)} > len(data) - position:"):
                source.line(f"refuse(f'{self._title}: {target} cannot hold {{count}} items')")
            source.line(f"{target} = {variable} = []")
            with source.block("for _ in range(count):"):
                self._read(f"{variable}_item", f"{variable}_item", item)
                self._flush()
                self._move_to_variable()
                source.line(f"{variable}.append({variable}_item)")
        self._may_be_past_the_end = True

    def _read_usual(self, target: str, variable: str, shape: Shape, value: Any) -> None:
        self._flush()
        self._move_to_variable()
        data = encode_shape(shape, value)
        with self.source.block(
            f"if data.startswith({self.source.constant(data, 'usual')}, position):"
        ):
            self.source.line(f"{target} = {self.source.constant(value, 'usual')}")
            self.source.line(f"position += {len(data)}")
        with self.source.block("else:"):
            self._read(target, variable, shape)
            self._flush()
            self._move_to_variable()
        self._may_be_past_the_end = True

    def _read_last_bool(self, target: str) -> None:
        self._flush()
        self._move_to_variable()
        self.source.line(f"{target} = None")
        with self.source.block("if position < len(data):"):
            self.source.line(f"{target} = data[position] != 0")
            self.source.line("position += 1")
        self._may_be_past_the_end = True
