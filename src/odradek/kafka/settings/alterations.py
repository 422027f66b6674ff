"""Changes to settings as clients ask for them: set, delete, append to a list, take from it.

Each decides what the settings would be, or says why not; nothing is changed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from odradek.kafka.settings.texts import text_of
from odradek.runtime.declarations import Declaration

INVALID_CONFIG = 40
INVALID_REQUEST = 42


class Operation(IntEnum):
    """What to do with a key, as a number that travels."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


@dataclass(frozen=True, slots=True)
class Alteration:
    """One change; only a deletion needs no value."""

    key: str
    operation: Operation
    value: str | None = field(default=None, repr=False)  # It may be a secret.


class Refused(NamedTuple):
    """Why settings stay as they are: Kafka's error code, and words for the asker."""

    code: int
    message: str


def altered(
    current: Mapping[str, str],
    alterations: Iterable[Alteration],
    declaration_of: Callable[[str], Declaration | None],
) -> dict[str, str] | Refused:
    """The texts after these changes, not yet checked as values."""
    alterations = list(alterations)
    if reason := why_unclear(alterations):
        return Refused(INVALID_REQUEST, reason)
    texts = dict(current)
    for it in alterations:
        declaration = declaration_of(it.key)
        if it.operation is Operation.DELETE:
            texts.pop(it.key, None)
        elif it.operation is Operation.SET:
            texts[it.key] = it.value or ""
        elif declaration is None or declaration.kind.name != "LIST":
            return Refused(INVALID_CONFIG, f"{it.key} is not a list: it can only be set or deleted")
        else:
            before = texts.get(it.key, text_of(declaration.default) or "")
            texts[it.key] = combined(before, it.operation, it.value or "")
    return texts


def why_unclear(alterations: list[Alteration]) -> str:
    """What is wrong with the request itself; "" if nothing is."""
    keys = [it.key for it in alterations]
    if len(set(keys)) < len(keys):
        return "a key is given twice"
    nulls = [
        it.key for it in alterations if it.value is None and it.operation is not Operation.DELETE
    ]
    return f"null is no value for {', '.join(nulls)}" if nulls else ""


def combined(before: str, operation: Operation, value: str) -> str:
    """A list with items added that it lacks, or taken that it has."""
    items = [item for item in before.split(",") if item]
    others = [item for item in value.split(",") if item]
    if operation is Operation.APPEND:
        return ",".join(dict.fromkeys(items + others))
    return ",".join(item for item in items if item not in others)
