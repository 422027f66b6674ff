"""The declarations say what the record definitions of ZooKeeper 3.9 say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

import pytest

from odradek.zookeeper.wire.codes import (
    AddWatchMode,
    CreateMode,
    EventType,
    KeeperState,
    Op,
    Perms,
    WatcherType,
)
from odradek.zookeeper.wire.errors import Error
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
from odradek.zookeeper.wire.operations import OPERATIONS
from tests.zookeeper.wire.golden import DATA
from tests.zookeeper.wire.values import RECORDS

LINES = (DATA / "messages.txt").read_text().splitlines()
BY_NAME = {record.__name__: record for record in RECORDS}
OURS_ALONE = {  # Written field by field in the original, see messages/quorum.py.
    "LeaderInfo",
    "EpochAck",
    "SessionTouch",
    "SessionVerdict",
    "DesignatedLeader",
    "ForwardedHeader",
}
RENAMED = {
    "serverid": "server_id",
    "paths2Delete": "paths_to_delete",
    "parentCVersion": "parent_cversion",
}


def described_records() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Name and fields of each record, as the definitions have them."""
    text = "\n".join(line for line in LINES if not line.startswith("#"))
    for part in re.split(r"^record ", text, flags=re.MULTILINE)[1:]:
        name, *lines = part.splitlines()
        fields = [line.split() for line in lines if line.startswith("  ")]
        yield name, [(snake_case(field), kind) for field, kind in fields]


def snake_case(name: str) -> str:
    return RENAMED.get(name) or re.sub(r"(?<=[a-z0-9])[A-Z]", r"_\g<0>", name).lower()


def described(shape: Shape) -> str:
    """A shape in the notation of the definitions, which know nothing of null."""
    match shape:
        case Fixed(code):
            return {"i": "int", "q": "long", "?": "bool"}[code]
        case LastBool():
            return "bool"
        case Text():
            return "string"
        case Blob():
            return "buffer"
        case Many(item):
            return f"[]{described(item)}"
        case Inner(record_type):
            return record_type.__name__
        case Usual(unusual, _):
            return described(unusual)


@pytest.mark.parametrize(("name", "fields"), list(described_records()))
def test_a_record_has_the_fields_of_the_original(name: str, fields: list[tuple[str, str]]) -> None:
    shapes = shapes_of(BY_NAME[name])
    assert [(field, described(shape)) for field, shape in shapes] == fields


def test_no_record_is_made_up() -> None:
    names = [name for name, _ in described_records()]
    assert set(BY_NAME) - OURS_ALONE == set(names)
    assert all(len(list(same)) == 1 for _, same in groupby(sorted(names)))


def described_operations() -> Iterator[tuple[int, str, str, str, str | None]]:
    for line in LINES:
        if found := re.match(r"op (\S+) (\S+) (.*) -> (\(.*\)\* \+ end|\S+)(?: \[(\w+))?", line):
            code, name, request, response, txn = found.groups()
            yield int(code), name, request, response, txn


@pytest.mark.parametrize(
    ("code", "name", "request_name", "response", "txn"), list(described_operations())
)
def test_an_operation_has_the_bodies_of_the_original(
    code: int, name: str, request_name: str, response: str, txn: str | None
) -> None:
    assert Op(code).name.replace("_", "").lower() == name.lower()
    if code == Op.NOTIFICATION:
        return
    operation = OPERATIONS[code]
    assert (operation.txn.__name__ if operation.txn else None) == txn
    if request_name in BY_NAME:
        assert operation.request is BY_NAME[request_name]
    if request_name == "-":
        assert operation.request is None
    if name not in ("multi", "multiRead"):
        kind = re.sub(r"\(0\)$", "", response)
        assert operation.response is (None if kind == "-" else BY_NAME[kind])


def test_all_operations_are_here() -> None:
    assert {code for code, *_ in described_operations()} == set(Op) == set(OPERATIONS) | {0}


def test_all_error_codes_are_here() -> None:
    described = {
        name: int(code) for code, name in re.findall(r"^err (\S+) (\w+)$", "\n".join(LINES), re.M)
    }
    assert {error.name.replace("_", ""): error.value for error in Error} == described


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("create-flags", CreateMode),
        ("perms", Perms),
        ("event-types", EventType),
        ("event-states", KeeperState),
        ("watcher-types", WatcherType),
        ("addwatch-modes", AddWatchMode),
    ],
)
def test_all_numbers_of_an_enumeration_are_here(name: str, ours: type[Op]) -> None:
    (line,) = (line for line in LINES if line.startswith(f"enum {name}"))
    numbers = [int(number) for number in re.findall(r"(?:: |, )(-?\d+) ", line)]
    assert sorted(int(member) for member in ours.__members__.values()) == sorted(numbers)
