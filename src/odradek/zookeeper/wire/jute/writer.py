"""Writers: one function per record, written out for its fields.

What has no fixed size is made into bytes first; then the record is one sum of packed runs and
those bytes. By then all sizes are known, so a frame's length and a header cost no second pass:
they are packed together with the first fields of the record.

A writer trusts what it is given. A value that does not fit its field is an error of ours and
raises whatever `struct` raises.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import calcsize
from typing import TYPE_CHECKING, Any

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
    shapes_of,
)

if TYPE_CHECKING:
    from odradek.zookeeper.wire.jute.record import Record


def compile_writer(
    record_type: type[Record], header: type[Record] | None = None, *, is_framed: bool = True
) -> Callable[..., Any]:
    """A function that writes this record.

    Alone it is `write(record) -> bytes`. With a header it is `write(record, *header's fields)`
    and makes a whole frame: length, header, record. One that is not framed has no length.
    """
    is_framed = is_framed and header is not None
    source = Source()
    parts = _Parts(source)
    names = header.__match_args__ if header else ()
    with source.block(f"def write({', '.join(['record', *names])}):"):
        if is_framed:
            parts.add_fixed("i", "length")
        if header:
            for name, shape in shapes_of(header):
                parts.add(name, name, shape)
        parts.add_record("record", record_type)
        if is_framed:
            source.line(f"length = {parts.total(less=4)}")
        source.line(f"return {parts.joined()}")
    return source.compile("write", f"jute {record_type.__name__} writer")


def encode_shape(shape: Shape, value: Any) -> bytes:
    """The bytes of one value, not of a whole record."""
    source = Source()
    parts = _Parts(source)
    with source.block("def write(value):"):
        parts.add("value", "value", shape)
        source.line(f"return {parts.joined()}")
    written: bytes = source.compile("write", "jute value writer")(value)
    return written


class _Parts:
    """The parts of one sum: runs of fixed fields, and variables that hold bytes."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._fixed_bytes = 0
        self._run: list[tuple[str, str]] = []  # Fixed fields not packed yet: code and value.
        self._terms: list[str] = []
        self._lengths: list[str] = []  # Of the terms whose size is not fixed.

    def joined(self) -> str:
        """All parts as one expression."""
        self._flush()
        if len(self._terms) < 4:
            return " + ".join(self._terms)
        return f"b''.join(({', '.join(self._terms)}))"

    def total(self, less: int) -> str:
        """The size of all parts, less some bytes, as an expression."""
        return " + ".join([str(self._fixed_bytes - less), *self._lengths])

    def add_fixed(self, code: str, value: str) -> None:
        self._run.append((code, value))
        self._fixed_bytes += calcsize(">" + code)

    def add_record(self, variable: str, record_type: type[Record]) -> None:
        for name, shape in shapes_of(record_type):
            self.add(f"{variable}.{name}", f"{variable}_{name}", shape)

    def add(self, value: str, variable: str, shape: Shape) -> None:
        """Add one thing; `variable` is a free name for what it needs meanwhile."""
        match shape:
            case Fixed(code):
                self.add_fixed(code, value)
            case LastBool():
                self._add_last_bool(value, variable)
            case Text(is_nullable):
                self._add_sized(value, variable, f"{variable}.encode()", is_nullable)
            case Blob(is_nullable):
                self._add_sized(value, variable, variable, is_nullable)
            case Many(item, is_nullable):
                self._add_many(value, variable, item, is_nullable)
            case Inner(record_type):
                self._hold(variable, value)
                self.add_record(variable, record_type)
            case Usual(usual_shape, usual):
                self._add_usual(value, variable, usual_shape, usual())

    def _flush(self) -> None:
        if self._run:
            codes = "".join(code for code, _ in self._run)
            values = ", ".join(value for _, value in self._run)
            self._terms.append(f"{self._source.pack(codes)}({values})")
            self._run.clear()

    def _add_bytes(self, name: str, length: str) -> None:
        self._flush()
        self._terms.append(name)
        self._lengths.append(length)

    def _hold(self, variable: str, value: str) -> None:
        if variable != value:
            self._source.line(f"{variable} = {value}")

    def _measure(self, variable: str, made: str, is_nullable: bool) -> str:
        """Put `made` into `variable` and its size, or nothing and -1 for a null, beside it."""
        source, size = self._source, f"{variable}_size"
        if not is_nullable:
            self._hold(variable, made)
            source.line(f"{size} = len({variable})")
            return size
        with source.block(f"if {variable} is None:"):
            source.line(f"{variable}, {size} = b'', -1")
        with source.block("else:"):
            self._hold(variable, made)
            source.line(f"{size} = len({variable})")
        return size

    def _add_sized(self, value: str, variable: str, made: str, is_nullable: bool) -> None:
        self._hold(variable, value)
        size = self._measure(variable, made, is_nullable)
        self.add_fixed("i", size)
        self._add_bytes(variable, f"len({variable})" if is_nullable else size)

    def _add_many(self, value: str, variable: str, item: Shape, is_nullable: bool) -> None:
        source, each, parts = self._source, f"{variable}_item", f"{variable}_parts"
        self._hold(variable, value)
        self.add_fixed("i", self._measure(variable, variable, is_nullable))
        source.line(f"{parts} = []")
        with source.block(f"for {each} in {variable}:"):
            inner = _Parts(source)
            inner.add(each, each, item)
            source.line(f"{parts}.append({inner.joined()})")
        source.line(f"{variable} = b''.join({parts})")
        self._add_bytes(variable, f"len({variable})")

    def _add_usual(self, value: str, variable: str, shape: Shape, usual: Any) -> None:
        source = self._source
        data = source.constant(encode_shape(shape, usual), "usual")
        self._hold(variable, value)
        with source.block(f"if {variable} is {source.constant(usual, 'usual')}:"):
            source.line(f"{variable} = {data}")
        with source.block("else:"):
            inner = _Parts(source)
            inner.add(variable, variable, shape)
            source.line(f"{variable} = {inner.joined()}")
        self._add_bytes(variable, f"len({variable})")

    def _add_last_bool(self, value: str, variable: str) -> None:
        self._source.line(
            f"{variable} = b'' if {value} is None else {self._source.pack('?')}({value})"
        )
        self._add_bytes(variable, f"len({variable})")
