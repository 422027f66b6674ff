"""Readers, compiled: bytes of one version of one message in, the message out.

A reader trusts nothing. It does not test each field against the end of the bytes: a slice past
the end is short, the next number fails to unpack, and one test at the end of the function catches
a short last slice. Counts are tested before their loop, so that an array of two thousand million
costs its sender four bytes and us nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from odradek.kafka.wire.schema import FORMATS, Field, StructType, fields_of
from odradek.runtime.errors import ProtocolError
from odradek.runtime.source import Source, format_of

STRING_BYTES_MAX = 0x7FFF
VARINT_MAX = 0x7FFFFFFF
Reader = Callable[[Any, int], tuple[Any, int]]


def compile_reader(message: StructType, version: int) -> Reader:
    """Write the function that reads this message in this version."""
    compiler = ReaderCompiler(version, message.__wire__.flexible.covers(version))
    return compiler.message(message)


def read_varint(buffer: Any, position: int) -> tuple[int, int]:
    """Read an unsigned varint of up to 31 bits."""
    first = buffer[position]
    if first < 128:
        return first, position + 1
    return read_long_varint(buffer, position + 1, first)


def read_long_varint(buffer: Any, position: int, first: int) -> tuple[int, int]:
    """Read on after a first byte that said there is more."""
    value, shift = first & 127, 7
    while shift < 35:
        byte = buffer[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            if value > VARINT_MAX:
                break
            return value, position
        shift += 7
    raise ProtocolError("a varint is longer than its type")


def read_tag(buffer: Any, position: int, last: int) -> tuple[int, int, int]:
    """Read what stands before a tagged field: its tag, where it starts, where it ends."""
    tag, length = buffer[position], buffer[position + 1]
    if tag < 128 and length < 128:
        position += 2
    else:
        tag, position = read_varint(buffer, position)
        length, position = read_varint(buffer, position)
    if tag <= last or position + length > len(buffer):
        refuse_tag(tag)
    return tag, position, position + length


def skip_tags(buffer: Any, position: int, count: int) -> int:
    """Pass over tagged fields, none of which is known here."""
    last = -1
    for _ in range(count):
        last, _, position = read_tag(buffer, position, last)
    return position


def refuse_length(name: str, length: int) -> NoReturn:
    raise ProtocolError(f"{name}: a length of {length}")


def refuse_count(name: str, count: int) -> NoReturn:
    raise ProtocolError(f"{name}: {count} items cannot be in the bytes that are left")


def refuse_tag(tag: int) -> NoReturn:
    raise ProtocolError(f"tagged field {tag} is out of order, or not as long as it says")


def refuse_end(position: int, size: int) -> NoReturn:
    raise ProtocolError(f"the message goes on to byte {position}, but there are {size}")


class ArrayUnpackers(dict[int, Callable[[Any, int], tuple[Any, ...]]]):
    """For arrays of numbers: count to unpacker. Short ones are kept, long ones made each time."""

    def __init__(self, code: str) -> None:
        self.code = code

    def __missing__(self, count: int) -> Callable[[Any, int], tuple[Any, ...]]:
        unpack = format_of.__wrapped__(self.code * count).unpack_from
        if count <= 64:
            self[count] = unpack
        return unpack


ARRAY_UNPACKERS = {kind: ArrayUnpackers(code) for kind, code in FORMATS.items()}


def least_size(struct: StructType, version: int, is_flexible: bool) -> int:
    """The fewest bytes that a struct can take: what an array's count is measured against."""
    size = 1 if is_flexible else 0
    for each in fields_of(struct):
        if each.versions.covers(version) and each.tag is None:
            size += least_field_size(each, version, is_flexible)
    return size


def least_field_size(field: Field, version: int, is_flexible: bool) -> int:
    if field.is_array:
        return 1 if is_flexible else 4
    if field.kind in FORMATS:
        return format_of(FORMATS[field.kind]).size
    if field.struct is not None:
        if field.null.covers(version):
            return 1
        return least_size(field.struct, version, is_flexible)
    if is_flexible and not field.is_rigid:
        return 1
    return 2 if field.kind == "string" else 4


class ReaderCompiler:
    """Walks a declaration and writes what reads it.

    Fixed-size fields wait in `pending` until something of variable size comes, then one
    `unpack_from` takes them all, together with the length that follows them.
    """

    def __init__(self, version: int, is_flexible: bool) -> None:
        self.version = version
        self.is_flexible = is_flexible
        self.pending: list[tuple[str, str]] = []  # (format, where it goes)
        names = {
            "new": object.__new__,
            "read_tag": read_tag,
            "skip_tags": skip_tags,
            "read_long_varint": read_long_varint,
            "refuse_length": refuse_length,
            "refuse_count": refuse_count,
            "refuse_tag": refuse_tag,
            "refuse_end": refuse_end,
        }
        self.source = Source(names)

    def message(self, message: StructType) -> Reader:
        line = self.source.line
        with self.source.block("def read(buffer, position):"):
            line("size = len(buffer)")
            self.struct(message, "message")
            self.flush()
            line("if position > size: refuse_end(position, size)")
            line("return message, position")
        return self.source.compile("read", f"read {message.__name__} {self.version}")

    def struct(self, struct: StructType, target: str) -> None:
        self.source.line(f"{target} = new({self.source.see(struct)})")
        tagged, last = [], self.string_before_tags(struct)
        for each in fields_of(struct):
            if not each.versions.covers(self.version):
                self.take_default(each, target)
            elif each.tag is not None:
                self.take_default(each, target)
                tagged.append(each)
            elif each is last:
                self.string_and_tags(each, f"{target}.{each.name}")
            else:
                self.field(each, f"{target}.{each.name}")
        if self.is_flexible and last is None:
            self.tags(tagged, target)

    def take_default(self, field: Field, target: str) -> None:
        default = self.source.constant(field.default, "default") if field.default != [] else "[]"
        self.source.line(f"{target}.{field.name} = {default}")

    def field(self, field: Field, target: str) -> None:
        if field.is_array:
            self.array(field, target)
        elif field.struct is not None:
            self.nested(field, target)
        elif field.kind in FORMATS:
            self.pending.append((FORMATS[field.kind], target))
        else:
            self.blob(field, target)

    def flush(self) -> None:
        """Write the one call that reads all that is pending."""
        if not self.pending:
            return
        codes = "".join(code for code, _ in self.pending)
        targets = ", ".join(target for _, target in self.pending)
        if codes == "B":
            self.source.line(f"{targets} = buffer[position]")
        else:
            comma = "," if len(self.pending) == 1 else ""
            unpack = self.source.unpack(codes)
            self.source.line(f"{targets}{comma} = {unpack}(buffer, position)")
        self.source.line(f"position += {format_of(codes).size}")
        self.pending.clear()

    def length(self, field: Field, rigid_code: str, prefix: str) -> str:
        """Read a length or count; in the name it returns, -1 stands for null."""
        name = self.source.fresh(prefix)
        if self.is_flexible and not field.is_rigid:
            self.varint(name)
            self.source.line(f"{name} -= 1")
        else:
            self.pending.append((rigid_code, name))
            self.flush()
        return name

    def varint(self, name: str) -> None:
        self.pending.append(("B", name))
        self.flush()
        self.rest_of_varint(name)

    def rest_of_varint(self, name: str) -> None:
        self.source.line(
            f"if {name} > 127: {name}, position = read_long_varint(buffer, position, {name})"
        )

    def blob(self, field: Field, target: str, *, append: bool = False) -> None:
        """Read a string, bytes or records."""
        length = self.length(field, "h" if field.kind == "string" else "i", "length")
        store = f"{target}.append({{}})" if append else f"{target} = {{}}"
        if field.null.covers(self.version) and not append:
            self.slice_or_null(field, length, store)
        else:
            self.slice(field, length, store)

    def string_before_tags(self, struct: StructType) -> Field | None:
        """A string that may be null, if it stands last, before tags none of which is known."""
        fields = [each for each in fields_of(struct) if each.versions.covers(self.version)]
        if not fields or not self.is_flexible or any(each.tag is not None for each in fields):
            return None
        last = fields[-1]
        is_string = last.kind == "string" and not last.is_array and not last.is_rigid
        return last if is_string and last.null.covers(self.version) else None

    def string_and_tags(self, field: Field, target: str) -> None:
        """Read both at once: mostly there is nothing in either."""
        line, length, tags = (
            self.source.line,
            self.source.fresh("length"),
            self.source.fresh("tags"),
        )
        self.pending += [("B", length), ("B", tags)]
        self.flush()
        with self.source.block(f"if {length} < 2 and not {tags}:"):
            line(f"{target} = '' if {length} else None")
        with self.source.block("else:"):
            line("position -= 1")  # The second byte was not yet that of the tags.
            self.rest_of_varint(length)
            line(f"{length} -= 1")
            self.slice_or_null(field, length, f"{target} = {{}}")
            self.tags([], target)

    def slice_or_null(self, field: Field, length: str, store: str) -> None:
        with self.source.block(f"if {length} < 0:"):
            self.source.line(store.format("None"))
        with self.source.block("else:"):
            self.slice(field, length, store)

    def slice(self, field: Field, length: str, store: str) -> None:
        expressions = {
            "string": "str(buffer[position:end], 'utf-8')",
            "bytes": "bytes(buffer[position:end])",
            "records": "memoryview(buffer)[position:end]",
        }
        fits = f"0 <= {length} <= {STRING_BYTES_MAX if field.kind == 'string' else VARINT_MAX}"
        self.source.line(f"if not {fits}: refuse_length({field.name!r}, {length})")
        self.source.line(f"end = position + {length}")
        self.source.line(store.format(expressions[field.kind]))
        self.source.line("position = end")

    def array(self, field: Field, target: str) -> None:
        count = self.length(field, "i", "count")
        line = self.source.line
        if field.null.covers(self.version):
            with self.source.block(f"if {count} < 0:"):
                line(f"{target} = None")
            with self.source.block("else:"):
                self.items(field, target, count)
        else:
            self.items(field, target, count)

    def items(self, field: Field, target: str, count: str) -> None:
        if field.struct is not None:
            least = least_size(field.struct, self.version, self.is_flexible)
        elif field.kind in FORMATS:
            least = format_of(FORMATS[field.kind]).size
        else:
            least = 1 if self.is_flexible else 2
        assert least > 0, f"{field.name}: items of no size could be claimed without end"
        self.source.line(
            f"if not 0 <= {count} * {least} <= size - position: "
            f"refuse_count({field.name!r}, {count})"
        )
        if field.kind in FORMATS:
            unpackers = self.source.constant(ARRAY_UNPACKERS[field.kind], f"{field.kind}s_")
            self.source.line(f"{target} = list({unpackers}[{count}](buffer, position))")
            self.source.line(f"position += {least} * {count}")
        else:
            self.loop(field, target, count)

    def loop(self, field: Field, target: str, count: str) -> None:
        items = self.source.fresh("items")
        self.source.line(f"{target} = {items} = []")
        with self.source.block(f"for _ in range({count}):"):
            if field.struct is None:
                self.blob(field, items, append=True)
            else:
                item = self.source.fresh("item")
                self.struct(field.struct, item)
                self.flush()
                self.source.line(f"{items}.append({item})")

    def nested(self, field: Field, target: str) -> None:
        assert field.struct is not None
        if not field.null.covers(self.version):
            self.whole(field.struct, target)
            return
        marker = self.source.fresh("marker")
        self.pending.append(("b", marker))
        self.flush()
        # Null is -1 in line and 0 in a tagged field; a present struct is 1 in both.
        with self.source.block(f"if {marker} > 0:"):
            self.whole(field.struct, target)
            self.flush()
        with self.source.block("else:"):
            self.source.line(f"{target} = None")

    def whole(self, struct: StructType, target: str) -> None:
        item = self.source.fresh("struct")
        self.struct(struct, item)
        self.source.line(f"{target} = {item}")

    def tags(self, tagged: list[Field], target: str) -> None:
        """Read the block that ends a struct: known tags into fields, unknown ones skipped."""
        count, stop, line = self.source.fresh("tags"), self.source.fresh("stop"), self.source.line
        self.varint(count)
        if not tagged:
            line(f"if {count}: position = skip_tags(buffer, position, {count})")
            return
        last = self.source.fresh("last")
        with self.source.block(f"if {count}:"):
            line(f"{last} = -1")
            with self.source.block(f"for _ in range({count}):"):
                line(f"{last}, position, {stop} = read_tag(buffer, position, {last})")
                word = "if"
                for each in tagged:
                    with self.source.block(f"{word} {last} == {each.tag}:"):
                        self.field(each, f"{target}.{each.name}")
                        self.flush()
                        line(f"if position != {stop}: refuse_tag({each.tag})")
                    word = "elif"
                line(f"else: position = {stop}")
