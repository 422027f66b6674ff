"""How messages are declared: one class a message, all versions in it.

    class PartitionProduceResponse(Struct):
        index: Int32
        error_code: Int16
        log_append_time_ms: Int64 = field("2+", default=-1, ignorable=True)

A line is a field, in the order of the wire. A field without a right-hand side exists in every
version of its struct and must be given by whoever builds one; any other has a default: its own,
or the zero of its type. Declaring costs next to nothing: annotations stay text until a struct is
first built, read or written (`fields_of`), and only then does `codec` compile for a version.

Messages are values. Type checkers refuse assignment to their fields; at run time nothing guards
it, because the compiled readers assign.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, Union, dataclass_transform, get_args, get_origin
from typing import get_type_hints as resolve_annotations

from odradek.runtime.source import Source

Bool = Annotated[bool, "bool"]
Int8 = Annotated[int, "int8"]
Int16 = Annotated[int, "int16"]
Uint16 = Annotated[int, "uint16"]
Int32 = Annotated[int, "int32"]
Int64 = Annotated[int, "int64"]
Float64 = Annotated[float, "float64"]
Uuid = Annotated[bytes, "uuid"]
String = Annotated[str, "string"]
Bytes = Annotated[bytes, "bytes"]
Records = Annotated[bytes | bytearray | memoryview, "records"]

# Fields of fixed size, and what `struct` calls them.
FORMATS = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "int64": "q",
    "float64": "d",
    "uuid": "16s",
}
ZERO_UUID = bytes(16)
ZEROS: dict[str, Any] = {
    "bool": False,
    "float64": 0.0,
    "uuid": ZERO_UUID,
    "string": "",
    "bytes": b"",
    "records": None,
}


class Versions(NamedTuple):
    """A closed range of versions; the `last` of an open one is as large as a version can be."""

    first: int
    last: int

    @classmethod
    def parse(cls, text: str) -> Versions:
        """Read "3", "1-4", "2+" or "none"."""
        if text == "none":
            return NEVER
        if text.endswith("+"):
            return cls(int(text[:-1]), ALWAYS.last)
        first, _, last = text.partition("-")
        return cls(int(first), int(last or first))

    def covers(self, version: int) -> bool:
        return self.first <= version <= self.last

    def __str__(self) -> str:
        return f"{self.first}-{self.last}"


ALWAYS = Versions(0, 0x7FFF)
NEVER = Versions(0, -1)
UNSET: Any = object()


class Declared(NamedTuple):
    """The right-hand side of a field's line."""

    default: Any = UNSET
    versions: str = "0+"
    null: str = "0+"
    tag: int | None = None
    is_ignorable: bool = False
    is_rigid: bool = False


def field(
    versions: str = "0+",
    *,
    default: Any = UNSET,
    null: str = "0+",
    tag: int | None = None,
    ignorable: bool = False,
    rigid: bool = False,
) -> Any:
    """Say in which versions a field exists and what stands for it where it does not.

    `null` narrows the versions in which a field typed `… | None` may be null. A `tag` puts it
    into the tagged block. A value other than the default in a version that lacks the field is
    dropped if `ignorable`, else refused. `rigid` keeps the old length format in every version.
    """
    return Declared(default, versions, null, tag, ignorable, rigid)


@dataclass(slots=True)
class Field:
    """One line of a declaration, understood."""

    name: str
    kind: str  # A number's name, or "string", "bytes", "records", "uuid", "struct".
    struct: StructType | None
    is_array: bool
    is_required: bool
    default: Any  # A fresh list is made for an array whose default is [].
    versions: Versions
    null: Versions
    tag: int | None
    is_ignorable: bool
    is_rigid: bool


@dataclass(slots=True)
class Wire:
    """What a message's first line says, and what `codec` has compiled of it so far."""

    api_key: int | None
    versions: Versions
    flexible: Versions
    readers: dict[int, Any]
    writers: dict[int, Any]


@dataclass_transform(kw_only_default=True, frozen_default=True)
class StructType(type):
    """Turns the lines of a declaration into slots, and keeps what they say for later."""

    __declared__: dict[str, Any]
    __values__: Callable[[Struct], Any]  # All of them, to compare.
    __fields__: list[Field]
    __wire__: Wire  # Of messages only.

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **first_line: Any
    ) -> StructType:
        names = tuple(namespace.get("__annotations__", ()))
        namespace["__declared__"] = {name: namespace.pop(name, UNSET) for name in names}
        namespace["__slots__"] = names
        namespace["__values__"] = staticmethod(attrgetter(*names) if names else type)
        return super().__new__(mcs, name, bases, namespace, **first_line)


class Struct(metaclass=StructType):
    """A group of fields. Equal if its fields are."""

    def __init__(self, **values: Any) -> None:
        # The first instance of a class compiles the constructor for all that follow.
        kind = type(self)
        type.__setattr__(kind, "__init__", compile_constructor(kind))
        kind.__init__(self, **values)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        values = type(self).__values__
        return bool(values(self) == values(other))

    def __repr__(self) -> str:
        names = type(self).__declared__
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__name__}({values})"


class Message(Struct):
    """A struct that travels or is stored by itself, and so has versions."""

    def __init_subclass__(
        cls, *, versions: str, flexible: str = "none", api_key: int | None = None
    ) -> None:
        cls.__wire__ = Wire(api_key, Versions.parse(versions), Versions.parse(flexible), {}, {})


def fields_of(struct: StructType) -> list[Field]:
    """The fields of a struct, in the order of the wire."""
    if "__fields__" not in struct.__dict__:
        types = resolve_annotations(struct, include_extras=True)
        lines = struct.__declared__.items()
        struct.__fields__ = [understand(name, types[name], declared) for name, declared in lines]
    return struct.__fields__


def understand(name: str, annotation: Any, right_hand_side: Any) -> Field:
    """Read one line: its type, and what stands behind it."""
    declared = right_hand_side
    if not isinstance(declared, Declared):
        declared = Declared(default=right_hand_side)
    kind, is_nullable = without_none(annotation)
    is_array = get_origin(kind) is list
    if is_array:
        (kind,) = get_args(kind)
    struct = kind if isinstance(kind, StructType) else None
    default = declared.default
    if default is UNSET:
        default = [] if is_array else zero_of(kind)
    return Field(
        name=name,
        kind="struct" if struct else kind.__metadata__[0],
        struct=struct,
        is_array=is_array,
        is_required=right_hand_side is UNSET,
        default=default,
        versions=Versions.parse(declared.versions),
        null=Versions.parse(declared.null) if is_nullable else NEVER,
        tag=declared.tag,
        is_ignorable=declared.is_ignorable,
        is_rigid=declared.is_rigid,
    )


def without_none(annotation: Any) -> tuple[Any, bool]:
    """Take `… | None` apart."""
    if get_origin(annotation) not in (Union, UnionType):
        return annotation, False
    kinds = [kind for kind in get_args(annotation) if kind is not NoneType]
    assert len(kinds) == 1, annotation
    return kinds[0], True


def zero_of(kind: Any) -> Any:
    """What stands for a value that was not given. A struct's zero is shared, as values may be."""
    if not isinstance(kind, StructType):
        return ZEROS.get(kind.__metadata__[0], 0)
    struct: Any = kind
    zero = object.__new__(struct)
    for each in fields_of(kind):
        setattr(zero, each.name, each.default)
    return zero


def compile_constructor(struct: StructType) -> Any:
    """Write an `__init__` that takes the fields by name."""
    source, parameters = Source(), []
    for each in fields_of(struct):
        source.names[f"default_{each.name}"] = each.default
        default = "" if each.is_required else f"=default_{each.name}"
        parameters.append(each.name + default)
    star = "*, " if parameters else ""
    with source.block(f"def __init__(self, {star}{', '.join(parameters)}):"):
        for each in fields_of(struct):
            is_fresh = each.default == [] and not each.is_required
            fresh = f"[] if {each.name} is default_{each.name} else " if is_fresh else ""
            source.line(f"self.{each.name} = {fresh}{each.name}")
    return source.compile("__init__", f"make {struct.__name__}")
