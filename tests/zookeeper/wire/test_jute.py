"""What a declaration means."""

from __future__ import annotations

import subprocess
import sys
from functools import cache, partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.wire.jute import (
    Bool,
    Buffer,
    Int,
    Long,
    Record,
    String,
    Vector,
    compile_reader,
    compile_writer,
)
from tests.zookeeper.wire.golden import framed
from tests.zookeeper.wire.values import RECORDS, any_record


class Pair(Record):
    left: Int
    right: Long


class Chest(Record):
    lid: Bool
    label: String
    note: String | None
    content: Buffer | None
    pairs: Vector[Pair]
    lists: Vector[Vector[String]] | None
    best: Pair
    has_lock: Bool | None


CHEST = Chest(True, "ä", None, b"\0", [Pair(1, 2)], [["a"], []], Pair(-1, -2), None)
CHEST_BYTES = bytes.fromhex(
    "01 00000002c3a4 ffffffff 0000000100 00000001000000010000000000000002"
    "00000002 000000010000000161 00000000 fffffffffffffffffffffffe"
)


def test_fields_are_written_in_the_order_of_their_declaration() -> None:
    assert CHEST.encode() == CHEST_BYTES
    assert Chest.decode(CHEST_BYTES) == CHEST
    assert Chest.decode(memoryview(CHEST_BYTES)) == CHEST


def test_a_record_starts_anywhere_and_leaves_what_follows_alone() -> None:
    pair = Pair(3, 4)
    assert Pair.read(b"before" + pair.encode() + b"after", 6) == (pair, 18)


def test_a_last_bool_may_be_left_out() -> None:
    assert Chest.decode(CHEST_BYTES + b"\0").has_lock is False
    assert Chest.decode(CHEST_BYTES + b"\x01").encode() == CHEST_BYTES + b"\x01"


@pytest.mark.parametrize("size", [-1, -2, -(2**31)])
def test_a_null_where_none_is_expected_is_refused(size: int) -> None:
    data = CHEST_BYTES[:1] + size.to_bytes(4, "big", signed=True) + CHEST_BYTES[7:]
    with pytest.raises(ProtocolError, match=r"Chest: record\.label"):
        Chest.decode(data)


def test_a_negative_length_other_than_that_of_null_is_refused() -> None:
    with pytest.raises(ProtocolError, match=r"record\.note has a length of -2"):
        Chest.decode(CHEST_BYTES[:7] + b"\xff\xff\xff\xfe" + CHEST_BYTES[11:])


def test_where_bytes_are_no_text_a_mark_is_read() -> None:
    chest = Chest.decode(CHEST_BYTES.replace("ä".encode(), b"\xc3\xc3"))
    assert "\N{REPLACEMENT CHARACTER}" * 2 in chest.label


def test_any_byte_but_zero_is_true() -> None:
    assert Chest.decode(b"\x07" + CHEST_BYTES[1:]).lid is True


def test_nothing_is_compiled_before_it_is_used() -> None:
    class Fresh(Record):
        number: Long

    assert not {"__init__", "read", "encode"} & set(vars(Fresh))
    fresh = Fresh(1)
    assert {"__init__", "read", "encode"} & set(vars(Fresh)) == {"__init__"}
    assert fresh.encode()
    assert {"__init__", "read", "encode"} & set(vars(Fresh)) == {"__init__", "encode"}


def test_importing_all_messages_compiles_nothing() -> None:
    program = """
from odradek.runtime import source
def refuse(*_): raise AssertionError("compiled on import")
source.Source.compile = refuse
import odradek.zookeeper.wire.connection, odradek.zookeeper.wire.election
import odradek.zookeeper.wire.quorum, odradek.zookeeper.wire.transactions
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_records_are_values() -> None:
    assert Pair(1, 2) == Pair(left=1, right=2) != Pair(2, 1)
    assert len({Pair(1, 2), Pair(1, 2), Pair(2, 1)}) == 2
    assert repr(Pair(1, 2)) == "Pair(left=1, right=2)"
    assert Pair(1, 2) != (1, 2)
    match Pair(1, 2):
        case Pair(left, right):
            assert (left, right) == (1, 2)


def test_a_record_has_no_room_for_anything_else() -> None:
    with pytest.raises(AttributeError):
        object.__setattr__(Pair(1, 2), "middle", 3)


class Envelope:
    __slots__ = ("frame", "left", "record", "right")


write_after_a_pair = cache(partial(compile_writer, header=Pair))
read_after_a_pair = cache(partial(compile_reader, header=Pair, envelope=Envelope))


@pytest.mark.parametrize("record_type", RECORDS, ids=lambda kind: kind.__name__)
@settings(max_examples=20, deadline=None)  # The first use of a record compiles it.
@given(st.data())
def test_any_value_of_any_record_survives(record_type: type[Record], data: st.DataObject) -> None:
    value = data.draw(any_record(record_type))
    encoded = value.encode()
    assert record_type.read(encoded) == (value, len(encoded))

    # The same with a header in front, which is written and read together with the record.
    frame = write_after_a_pair(record_type)(value, 7, 8)
    assert frame == framed(Pair(7, 8).encode() + encoded)
    envelope = read_after_a_pair(record_type)(frame[4:])
    assert (envelope.left, envelope.right, envelope.record) == (7, 8, value)
    assert envelope.frame == frame[4:]
