"""Writers, compiled: a message in, the bytes of one of its versions out.

A writer gathers small things in one bytearray and passes record data on as it is, so what a disk
or a socket gave is not copied on its way out. A value that a version cannot carry is refused,
unless the declaration says that it may be dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from odradek.kafka.wire.schema import FORMATS, Field, StructType, fields_of
from odradek.kafka.wire.varint import unsigned_varint
from odradek.runtime.errors import OdradekError
from odradek.runtime.source import Source, format_of

STRING_BYTES_MAX = 0x7FFF
Writer = Callable[[Any], list[Any]]


class NotRepresentable(OdradekError):
    """This value has no form in this version of the message."""


def compile_writer(message: StructType, version: int) -> Writer:
    """Write the function that writes this message in this version."""
    compiler = WriterCompiler(version, message.__wire__.flexible.covers(version))
    return compiler.message(message)


def string_varint(length: int) -> bytes:
    """The length of a string, plus one: strings have a limit of their own."""
    if length > STRING_BYTES_MAX + 1:
        raise NotRepresentable(f"a string of {length - 1} bytes; {STRING_BYTES_MAX} at the most")
    return unsigned_varint(length)


def write_tags(out: bytearray, tags: list[tuple[int, bytearray]]) -> None:
    """Write the tagged block that ends a struct."""
    out += unsigned_varint(len(tags))
    for tag, data in tags:
        out += unsigned_varint(tag)
        out += unsigned_varint(len(data))
        out += data


def refuse_value(name: str, value: object) -> NoReturn:
    raise NotRepresentable(f"{name} = {value!r} does not exist in this version")


class ArrayPackers(dict[int, Callable[..., bytes]]):
    """For arrays of numbers: count to packer. Short ones are kept, long ones made each time."""

    def __init__(self, code: str) -> None:
        self.code = code

    def __missing__(self, count: int) -> Callable[..., bytes]:
        pack = format_of.__wrapped__(self.code * count).pack
        if count <= 64:
            self[count] = pack
        return pack


ARRAY_PACKERS = {kind: ArrayPackers(code) for kind, code in FORMATS.items()}


class WriterCompiler:
    """Walks a declaration and writes what writes it; `pending` as in `readers`."""

    def __init__(self, version: int, is_flexible: bool) -> None:
        self.version = version
        self.is_flexible = is_flexible
        self.pending: list[tuple[str, str]] = []  # (format, what goes there; "" for a zero byte)
        self.out = "out"
        names = {
            "unsigned_varint": unsigned_varint,
            "string_varint": string_varint,
            "write_tags": write_tags,
            "refuse_value": refuse_value,
        }
        self.source = Source(names)

    def message(self, message: StructType) -> Writer:
        line = self.source.line
        with self.source.block("def write(message):"):
            line("parts = []")
            line("out = bytearray()")
            self.struct(message, "message")
            self.flush()
            line("parts.append(out)")
            line("return parts")
        return self.source.compile("write", f"write {message.__name__} {self.version}")

    def struct(self, struct: StructType, value: str) -> None:
        tagged = []
        for each in fields_of(struct):
            if not each.versions.covers(self.version):
                if not each.is_ignorable:
                    self.refuse_unless_default(each, f"{value}.{each.name}")
            elif each.tag is not None:
                tagged.append(each)
            else:
                self.field(each, f"{value}.{each.name}")
        if self.is_flexible:
            self.tags(sorted(tagged, key=lambda each: each.tag or 0), value)

    def refuse_unless_default(self, field: Field, value: str) -> None:
        self.source.line(f"if {self.differs(field, value)}: refuse_value({field.name!r}, {value})")

    def differs(self, field: Field, value: str) -> str:
        """A test for a value that is not the default."""
        if field.default == []:
            return f"{value} != []" if field.null.covers(self.version) else value
        if field.default is None:
            return f"{value} is not None"
        default = self.source.constant(field.default, "default")
        if field.struct is not None:
            return f"{value} is not {default} and {value} != {default}"
        return f"{value} != {default}"

    def field(self, field: Field, value: str) -> None:
        if field.is_array:
            self.array(field, value)
        elif field.struct is not None:
            self.nested(field, value)
        elif field.kind in FORMATS:
            self.pending.append((FORMATS[field.kind], value))
        else:
            self.blob(field, value)

    def packed(self, items: list[tuple[str, str]]) -> str:
        """The one call that packs all these."""
        codes = "".join(code for code, _ in items)
        values = ", ".join(value for _, value in items if value)
        return f"{self.source.pack(codes)}({values})"

    def flush(self) -> None:
        if self.pending == [("x", "")]:
            self.source.line(f"{self.out}.append(0)")
        elif self.pending:
            self.source.line(f"{self.out} += {self.packed(self.pending)}")
        self.pending.clear()

    def length(
        self, field: Field, length: str, rigid_code: str, varint: str = "unsigned_varint"
    ) -> None:
        """Write a length or count that stands in a name, -1 for null, and all that is pending."""
        if not self.is_flexible or field.is_rigid:
            self.pending.append((rigid_code, length))
            self.flush()
            return
        before, self.pending = self.pending, []
        with self.source.block(f"if {length} < 127:"):
            if before:
                self.source.line(f"{self.out} += {self.packed([*before, ('B', f'{length} + 1')])}")
            else:
                self.source.line(f"{self.out}.append({length} + 1)")
        with self.source.block("else:"):
            if before:
                self.source.line(f"{self.out} += {self.packed(before)}")
            self.source.line(f"{self.out} += {varint}({length} + 1)")

    def blob(self, field: Field, value: str) -> None:
        """Write a string, bytes or records."""
        line, is_string = self.source.line, field.kind == "string"
        data, length = self.source.fresh("data"), self.source.fresh("length")
        line(f"{data} = {value}")
        encode = f"{data} = {data}.encode()"
        if field.null.covers(self.version):
            with self.source.block(f"if {data} is None:"):
                line(f"{data}, {length} = b'', -1")
            with self.source.block("else:"):
                if is_string:
                    line(encode)
                line(f"{length} = len({data})")
        else:
            if is_string:
                line(encode)
            line(f"{length} = len({data})")
        self.length(
            field,
            length,
            "h" if is_string else "i",
            "string_varint" if is_string else "unsigned_varint",
        )
        if field.kind == "records":
            self.pass_on(data, length)
        else:
            line(f"{self.out} += {data}")

    def pass_on(self, data: str, length: str) -> None:
        assert self.out == "out", "records in a tagged field"
        with self.source.block(f"if {length} > 0:"):
            self.source.line("parts.append(out)")
            self.source.line(f"parts.append({data})")
            self.source.line("out = bytearray()")

    def array(self, field: Field, value: str) -> None:
        line = self.source.line
        items, count = self.source.fresh("items"), self.source.fresh("count")
        line(f"{items} = {value}")
        if field.null.covers(self.version):
            line(f"{count} = -1 if {items} is None else len({items})")
        else:
            line(f"{count} = len({items})")
        self.length(field, count, "i")
        with self.source.block(f"if {count} > 0:"):
            self.items(field, items, count)

    def items(self, field: Field, items: str, count: str) -> None:
        if field.kind in FORMATS:
            packers = self.source.constant(ARRAY_PACKERS[field.kind], f"{field.kind}s_")
            self.source.line(f"{self.out} += {packers}[{count}](*{items})")
            return
        item = self.source.fresh("item")
        with self.source.block(f"for {item} in {items}:"):
            if field.struct is None:
                self.blob(field, item)
            else:
                self.struct(field.struct, item)
            self.flush()

    def nested(self, field: Field, value: str) -> None:
        assert field.struct is not None
        if not field.null.covers(self.version):
            self.whole(field.struct, value)
            return
        self.flush()
        # A null struct is -1 in line, but 0 in a tagged field.
        null = "0" if field.tag is not None else "-1"
        with self.source.block(f"if {value} is None:"):
            self.pending.append(("b", null))
            self.flush()
        with self.source.block("else:"):
            self.pending.append(("b", "1"))
            self.whole(field.struct, value)
            self.flush()

    def whole(self, struct: StructType, value: str) -> None:
        item = self.source.fresh("struct")
        self.source.line(f"{item} = {value}")
        self.struct(struct, item)

    def tags(self, tagged: list[Field], value: str) -> None:
        """Write the tagged block: an empty one is a zero byte beside its neighbours."""
        if not tagged:
            self.pending.append(("x", ""))
            return
        before = list(self.pending)
        empty = " and ".join(self.is_plainly_default(each, value) for each in tagged)
        with self.source.block(f"if {empty}:"):
            self.pending.append(("x", ""))
            self.flush()
        with self.source.block("else:"):
            self.pending = before
            self.flush()
            self.full_tags(tagged, value)

    def is_plainly_default(self, field: Field, value: str) -> str:
        """A quick test: structs left out share one default, told by identity."""
        if field.struct is not None and not field.is_array and field.default is not None:
            return f"{value}.{field.name} is {self.source.constant(field.default, 'default')}"
        return f"not ({self.differs(field, f'{value}.{field.name}')})"

    def full_tags(self, tagged: list[Field], value: str) -> None:
        line, tags, out = self.source.line, self.source.fresh("tags"), self.out
        line(f"{tags} = []")
        for each in tagged:
            with self.source.block(f"if {self.differs(each, f'{value}.{each.name}')}:"):
                self.out = self.source.fresh("tag")
                line(f"{self.out} = bytearray()")
                self.field(each, f"{value}.{each.name}")
                self.flush()
                line(f"{tags}.append(({each.tag}, {self.out}))")
        self.out = out
        line(f"write_tags({out}, {tags})")
