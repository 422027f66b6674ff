"""Every message there is, with the golden value of each version."""

from __future__ import annotations

import base64
import importlib
import json
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from odradek.kafka.wire import messages
from odradek.kafka.wire.schema import Field, Message, StructType, fields_of
from tests.kafka.wire import kraft_messages

DATA = Path(__file__).parent / "data"


def kinds_in(module: ModuleType) -> dict[str, type[Message]]:
    found = vars(module).values()
    return {
        kind.__name__: kind
        for kind in found
        if isinstance(kind, type) and issubclass(kind, Message) and kind is not Message
    }


def product_kinds() -> dict[str, type[Message]]:
    kinds: dict[str, type[Message]] = {}
    for found in pkgutil.iter_modules(messages.__path__):
        kinds |= kinds_in(importlib.import_module(f"{messages.__name__}.{found.name}"))
    return kinds


PRODUCT = product_kinds()
KINDS = PRODUCT | kinds_in(kraft_messages)


def versions_of(kind: type[Message]) -> range:
    return range(kind.__wire__.versions.first, kind.__wire__.versions.last + 1)


def all_versions() -> list[tuple[type[Message], int]]:
    return [(kind, version) for kind in KINDS.values() for version in versions_of(kind)]


class Golden(NamedTuple):
    """A value and the bytes that Kafka's own classes gave it."""

    kind: type[Message]
    version: int
    value: dict[str, Any]
    data: bytes


def goldens() -> Iterator[Golden]:
    with (DATA / "kafka-golden-vectors.tsv").open(encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith("#"):
                name, version, value, data = line.rstrip("\n").split("\t")
                yield Golden(KINDS[name], int(version), json.loads(value), bytes.fromhex(data))


def snake_case(name: str) -> str:
    name = name.replace("KRaft", "Kraft").replace("kRaft", "kraft")
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def build(struct: StructType, value: dict[str, Any]) -> Any:
    """Make a message from its JSON form."""
    given = {snake_case(name): each for name, each in value.items()}
    fields = fields_of(struct)
    assert given.keys() <= {field.name for field in fields}
    return struct(**{f.name: build_field(f, given.get(f.name, f.default)) for f in fields})


def build_field(field: Field, value: Any) -> Any:
    if value is None or value is field.default:
        return value
    return [build_one(field, each) for each in value] if field.is_array else build_one(field, value)


def build_one(field: Field, value: Any) -> Any:
    if field.struct is not None:
        return build(field.struct, value)
    if field.kind == "uuid":
        return base64.urlsafe_b64decode(value + "==")
    return base64.b64decode(value) if field.kind in ("bytes", "records") else value
