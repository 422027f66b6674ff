"""Records: one declared class each, fields in wire order.

    class SetDataRequest(Record):
        path: String
        data: Buffer | None
        version: Int

Any string, buffer or vector can be null on the wire (length -1). A field says `| None` where a
peer may really send that; elsewhere null is refused. `Bool | None` is different: a last byte that
old peers leave out.

Annotations stay text until a record is first used: an import makes classes and compiles nothing.
The first construction, `read` or `encode` of a class compiles that one function and puts it in
the place of the method here. Type checkers hold records to be frozen; at run time their slots are
plain, so that a reader may fill them in line.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Self, dataclass_transform

from odradek.runtime.source import Source
from odradek.zookeeper.wire.jute.reader import compile_reader
from odradek.zookeeper.wire.jute.writer import compile_writer

Int = Annotated[int, "i"]  # What `struct` calls them, which is also how they are written.
Long = Annotated[int, "q"]
Bool = Annotated[bool, "?"]
String = str
Buffer = bytes
Vector = list


class RecordType(type):
    """Gives each record slots named after its annotations, without evaluating them."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> RecordType:
        if bases:  # Record itself has no fields.
            fields = tuple(namespace["__annotations__"])
            namespace["__slots__"] = namespace["__match_args__"] = fields
            namespace["_values"] = attrgetter(*fields)
        return super().__new__(cls, name, bases, namespace)


@dataclass_transform(eq_default=True, frozen_default=True)
class Record(metaclass=RecordType):
    """The base of all records; see the module for how to declare one."""

    __slots__ = ()
    __match_args__: ClassVar[tuple[str, ...]]
    _values: ClassVar[Callable[[Record], Any]]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        compiled = _install(type(self), "__init__", _compile_init(type(self)))
        compiled(self, *args, **kwargs)

    @classmethod
    def read(cls, data: bytes, position: int = 0) -> tuple[Self, int]:
        """The record that starts at `position`, and where it ends.

        What follows the record is not looked at: the original ignores it, so that a later
        version may append fields.
        """
        compiled = compile_reader(cls)
        _install(cls, "read", staticmethod(compiled))
        result: tuple[Self, int] = compiled(data, position)
        return result

    @classmethod
    def decode(cls, data: bytes | memoryview) -> Self:
        """The record at the start of `data`."""
        return cls.read(bytes(data))[0]

    def encode(self) -> bytes:
        """The record's bytes, with no frame and no header."""
        compiled = _install(type(self), "encode", compile_writer(type(self)))
        result: bytes = compiled(self)
        return result

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record) or other.__class__ is not self.__class__:
            return NotImplemented
        values = type(self)._values
        return bool(values(self) == values(other))

    def __hash__(self) -> int:
        return hash(type(self)._values(self))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{type(self).__name__}({fields})"


def _install(record_type: type[Record], name: str, function: Any) -> Any:
    setattr(record_type, name, function)
    return function


def _compile_init(record_type: type[Record]) -> Callable[..., None]:
    source = Source()
    with source.block(f"def __init__(self, {', '.join(record_type.__match_args__)}):"):
        for name in record_type.__match_args__:
            source.line(f"self.{name} = {name}")
    return source.compile("__init__", f"jute {record_type.__name__}")
