"""An answer that refuses: names what the request named, each with the error, pure.

Answers are shaped like their requests: where a request lists topics with partitions, so does its
answer. So one walk over both makes the refusal of any API in any version; keys are copied by name,
or else by place.
"""

from __future__ import annotations

from typing import Any

from odradek.kafka.wire.apis import Api
from odradek.kafka.wire.schema import Field, Message, Struct, StructType, fields_of

FETCH = 1
ERROR = "error_code"


def refusal(api: Api, request: Message, version: int, code: int) -> Message:
    """The answer to a request in which all that was asked for fails."""
    values = _values(api.response, request, version, code)
    has_items = any(isinstance(value, list) and value for value in values.values())
    if api.key == FETCH and has_items:
        values[ERROR] = 0  # On top it would be about the session, not about partitions.
    answer: Message = api.response(**values)
    return answer


def can_refuse(api: Api) -> bool:
    """Whether its answers have a place for errors."""
    return _has_error(api.response)


def _values(kind: StructType, source: Any, version: int, code: int) -> dict[str, Any]:
    values: dict[str, Any] = {}
    is_keyed = False
    for each in fields_of(kind):
        if not each.versions.covers(version):
            values[each.name] = each.default
        elif each.name.endswith(ERROR) and not each.is_array:
            values[each.name] = code
        elif each.is_array:
            values[each.name] = _items(each, source, version, code)
        else:
            values[each.name] = _key(each, source, version, is_first=not is_keyed)
            is_keyed = True
    return values


def _items(each: Field, source: Any, version: int, code: int) -> list[Any] | None:
    """One item of the answer for each of the request, if such items can carry errors."""
    if each.struct is None or not _has_error(each.struct):
        return None if each.default is None else []
    kind: Any = each.struct
    return [kind(**_values(kind, it, version, code)) for it in _listed(each.name, source, version)]


def _listed(name: str, source: Any, version: int) -> list[Any]:
    """The request's list that an answer's list of this name is about."""
    if not isinstance(source, Struct):
        return []
    arrays = [it for it in fields_of(type(source)) if it.is_array and it.versions.covers(version)]
    for it in sorted(arrays, key=lambda it: it.name != name):
        found: list[Any] | None = getattr(source, it.name)
        if found:
            return found
    return []


def _key(each: Field, source: Any, version: int, *, is_first: bool) -> Any:
    if not isinstance(source, Struct):
        return source if is_first else each.default  # A list of names or numbers.
    if hasattr(source, each.name):
        return getattr(source, each.name)
    alike = [
        it.name
        for it in fields_of(type(source))
        if it.kind == each.kind and not it.is_array and it.versions.covers(version)
    ]
    # `partition` of a request is `partition_index` in its answer.
    return getattr(source, alike[0]) if is_first and alike and each.is_required else each.default


def _has_error(kind: StructType) -> bool:
    return any(
        it.name.endswith(ERROR) or (it.struct is not None and _has_error(it.struct))
        for it in fields_of(kind)
    )
