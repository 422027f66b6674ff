"""Blocks of producer ids: the controller's znode, and a broker's supply."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.kafka.coordinator.producer_ids import (
    PRODUCER_ID_MAX,
    RETRY_MS,
    Block,
    ProducerIds,
    decide_next_block,
    decode_block,
    encode_block,
)
from odradek.kafka.storage.refusal import Refusal
from odradek.runtime.errors import ProtocolError

SEEN = b'{"version":1,"broker":7,"block_start":"0","block_end":"999"}'


@pytest.mark.parametrize("data", [None, b""])
def test_the_first_block_begins_at_zero(data: bytes | None) -> None:
    assert decide_next_block(data) == Block(0, 1000)


def test_the_znode_is_apaches() -> None:
    assert encode_block(Block(0), 7) == SEEN
    assert decode_block(SEEN) == Block(0)


def test_the_next_block_begins_behind_the_last() -> None:
    assert decide_next_block(SEEN) == Block(1000)
    other = encode_block(Block(5000, 10), 1)
    assert decide_next_block(other) == Block(5010)


def test_there_is_no_block_behind_the_largest_id() -> None:
    full = encode_block(Block(PRODUCER_ID_MAX - 999), 1)
    assert isinstance(decide_next_block(full), Refusal)
    almost = encode_block(Block(PRODUCER_ID_MAX - 1999), 1)
    assert decide_next_block(almost) == Block(PRODUCER_ID_MAX - 999)


@pytest.mark.parametrize(
    "data",
    [
        b"nonsense",
        b"[]",
        b"{}",
        b'{"version":1,"block_start":"x","block_end":"9"}',
        b'{"version":1,"block_start":"9","block_end":"0"}',
        b'{"version":1,"block_start":"-5","block_end":"0"}',
    ],
)
def test_other_data_is_no_block(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_block(data)


def test_a_broker_has_no_id_until_a_block_has_come() -> None:
    ids = ProducerIds()
    assert ids.take() is None
    assert ids.ask(0)
    assert not ids.ask(0)  # One question at a time.
    assert ids.receive(Block(3000), 0)
    assert ids.take() == 3000


def test_the_next_block_is_asked_for_when_nine_tenths_are_gone() -> None:
    ids = ProducerIds()
    ids.receive(Block(0), 0)
    for _ in range(900):
        ids.take()
        assert not ids.ask(0)
    assert ids.take() == 900
    assert ids.ask(0)
    ids.receive(Block(7000), 0)
    assert not ids.ask(0)
    assert [ids.take() for _ in range(100)] == [*range(901, 1000), 7000]


def test_a_refused_question_is_asked_again_a_little_later() -> None:
    ids = ProducerIds()
    assert ids.ask(10)
    ids.refused(20)
    assert not ids.ask(20 + RETRY_MS - 1)
    assert ids.ask(20 + RETRY_MS)


@pytest.mark.parametrize(
    "block", [Block(-1), Block(0, 0), Block(5, -1), Block(PRODUCER_ID_MAX, 2), Block(999)]
)
def test_a_block_that_cannot_be_new_is_not_taken(block: Block) -> None:
    ids = ProducerIds()
    ids.receive(Block(0), 0)
    for _ in range(1000):
        ids.take()
    assert ids.ask(0)
    assert not ids.receive(block, 0)
    assert ids.take() is None
    assert ids.ask(RETRY_MS)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=30))
def test_no_two_brokers_ever_give_out_the_same_id(order: list[int]) -> None:
    data: bytes | None = None
    brokers = [ProducerIds() for _ in range(3)]
    given_out: list[int] = []
    for number in order:
        ids = brokers[number]
        if ids.ask(0):
            block = decide_next_block(data)
            assert isinstance(block, Block)
            data = encode_block(block, number)
            ids.receive(block, 0)
        taken = [ids.take() for _ in range(400)]
        given_out += [each for each in taken if each is not None]
    assert given_out and len(given_out) == len(set(given_out))
