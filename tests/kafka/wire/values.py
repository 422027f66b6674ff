"""hypothesis strategies for any value of any message."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from odradek.kafka.wire.schema import Field, StructType, fields_of


def any_value(struct: StructType, version: int, integers_max: int | None = None) -> Any:
    """Any value that this version can carry; integers in 0 … `integers_max`, if it is given."""
    given = {
        field.name: any_field(field, version, integers_max)
        for field in fields_of(struct)
        if field.versions.covers(version) or field.is_required
    }
    return st.builds(struct, **given)


def any_field(field: Field, version: int, integers_max: int | None) -> st.SearchStrategy[Any]:
    one = any_one(field, version, integers_max)
    whole = st.lists(one, max_size=3) if field.is_array else one
    if field.null.covers(version):
        return st.none() | whole
    return whole


def any_one(field: Field, version: int, integers_max: int | None) -> st.SearchStrategy[Any]:
    if field.struct is not None:
        return any_value(field.struct, version, integers_max)  # type: ignore[no-any-return]
    if field.kind in ("int8", "int16", "int32", "int64", "uint16"):
        return any_integer(field.kind, integers_max)
    return {
        "bool": st.booleans(),
        "float64": st.floats(allow_nan=False),
        "uuid": st.binary(min_size=16, max_size=16),
        "string": st.text(max_size=200),
        "bytes": st.binary(max_size=200),
        "records": st.binary(max_size=200),
    }[field.kind]


def any_integer(kind: str, integers_max: int | None) -> st.SearchStrategy[int]:
    if integers_max is not None:
        return st.integers(0, integers_max)
    if kind == "uint16":
        return st.integers(0, 2**16 - 1)
    half = 2 ** (int(kind.removeprefix("int")) - 1)
    return st.integers(-half, half - 1)
