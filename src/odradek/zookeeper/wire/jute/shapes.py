"""Shapes: what a field looks like on the wire, found from its annotation."""

from __future__ import annotations

from collections.abc import Callable
from struct import calcsize
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

if TYPE_CHECKING:
    from odradek.zookeeper.wire.jute.record import Record


class Fixed(NamedTuple):
    """A number or a bool: `code` is its letter in `struct`."""

    code: str


class LastBool(NamedTuple):
    """A bool that ends a record and that old peers leave out."""


class Text(NamedTuple):
    """A length and that much UTF-8."""

    is_nullable: bool


class Blob(NamedTuple):
    """A length and that many bytes."""

    is_nullable: bool


class Many(NamedTuple):
    """A count and that many things of one shape."""

    item: Shape
    is_nullable: bool


class Inner(NamedTuple):
    """A record in line: its fields, with nothing around them."""

    record_type: type[Record]


class Usual(NamedTuple):
    """A thing that most often has one value: that one is compared and copied, not taken apart."""

    shape: Shape
    value: Callable[[], Any]


Shape = Fixed | LastBool | Text | Blob | Many | Inner | Usual


def shapes_of(record_type: type[Record]) -> list[tuple[str, Shape]]:
    """The fields of a record, in wire order."""
    hints = get_type_hints(record_type, include_extras=True)
    return [(name, _shape(hints[name])) for name in record_type.__match_args__]


def least_bytes(shape: Shape) -> int:
    """The fewest bytes that this shape can take."""
    match shape:
        case Fixed(code):
            return calcsize(">" + code)
        case Inner(record_type):
            return sum(least_bytes(inner) for _, inner in shapes_of(record_type))
        case LastBool():
            return 0
        case Usual(inner, _):
            return least_bytes(inner)
        case _:
            return 4


def _shape(hint: Any) -> Shape:
    if get_origin(hint) is Annotated and callable(hint.__metadata__[0]):
        return Usual(_shape(hint.__origin__), hint.__metadata__[0])
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (choice for choice in get_args(hint) if choice is not NoneType)
        return _shape_or_null(hint, is_nullable=True)
    return _shape_or_null(hint, is_nullable=False)


def _shape_or_null(hint: Any, *, is_nullable: bool) -> Shape:
    if get_origin(hint) is Annotated:
        (code,) = hint.__metadata__
        assert not is_nullable or code == "?", f"a null {code!r} has no place on the wire"
        return LastBool() if is_nullable else Fixed(code)
    if hint is str:
        return Text(is_nullable)
    if hint is bytes:
        return Blob(is_nullable)
    if get_origin(hint) is list:
        return Many(_shape(get_args(hint)[0]), is_nullable)
    assert not is_nullable, f"a null {hint} has no place on the wire"
    return Inner(hint)
