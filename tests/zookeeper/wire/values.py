"""All records, and any value of each."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from odradek.zookeeper.wire.jute import Record
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
from odradek.zookeeper.wire.messages import (
    data,
    file,
    quorum,
    requests,
    responses,
    session,
    txn,
)

MODULES = (data, session, requests, responses, quorum, file, txn)
RECORDS: list[type[Record]] = [
    thing
    for module in MODULES
    for thing in vars(module).values()
    if isinstance(thing, type) and issubclass(thing, Record) and thing.__module__ == module.__name__
]


def any_record(record_type: type[Record]) -> st.SearchStrategy[Any]:
    fields = {name: any_value(shape) for name, shape in shapes_of(record_type)}
    return st.builds(record_type, **fields)


def any_value(shape: Shape) -> st.SearchStrategy[Any]:
    match shape:
        case Fixed("?"):
            return st.booleans()
        case Fixed(code):
            bits = {"i": 31, "q": 63}[code]
            return st.integers(-(2**bits), 2**bits - 1)
        case LastBool():
            return st.none() | st.booleans()
        case Text(is_nullable):
            return _or_null(st.text(max_size=50), is_nullable)
        case Blob(is_nullable):
            return _or_null(st.binary(max_size=50), is_nullable)
        case Many(item, is_nullable):
            return _or_null(st.lists(any_value(item), max_size=4), is_nullable)
        case Inner(record_type):
            return any_record(record_type)
        case Usual(unusual, value):
            return st.builds(value) | any_value(unusual)


def _or_null(values: st.SearchStrategy[Any], is_nullable: bool) -> st.SearchStrategy[Any]:
    return st.none() | values if is_nullable else values
