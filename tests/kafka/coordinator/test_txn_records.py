"""`__transaction_state`, byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.kafka.coordinator.group_partitions import partition_for
from odradek.kafka.coordinator.txn_records import (
    decode_key,
    decode_value,
    encode_key,
    encode_record,
    encode_tombstone,
    encode_value,
    in_batches,
)
from odradek.kafka.coordinator.txn_state import STORED, State, Transaction
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.batch import read_batches
from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.codec import encode
from odradek.kafka.wire.messages.transaction_log import PartitionsSchema, TransactionLogValue
from odradek.kafka.wire.records import Record, read_records
from odradek.runtime.errors import ProtocolError
from tests.kafka.wire.golden_records import LOGS

APACHE = LOGS["kafka __transaction_state-1/00000000000000000000.log"]
STORIES = [
    State.EMPTY,
    *(State.ONGOING, State.PREPARE_COMMIT, State.COMPLETE_COMMIT),
    *(State.ONGOING, State.PREPARE_ABORT, State.COMPLETE_ABORT),
    *(State.ONGOING, State.PREPARE_COMMIT, State.COMPLETE_COMMIT),
]
PARTITIONS = st.builds(TopicPartition, st.text(max_size=5), st.integers(0, 2**31 - 1))
LONGS = st.integers(-1, 2**63 - 1)


@st.composite
def transactions(draw: st.DrawFn) -> Transaction:
    state = draw(st.sampled_from(sorted(STORED)))
    partitions = frozenset() if state is State.EMPTY else draw(st.frozensets(PARTITIONS))
    return Transaction(
        draw(st.text(min_size=1, max_size=10)),
        draw(LONGS),
        draw(st.integers(-1, 2**15 - 1)),
        draw(st.integers(1, 2**31 - 1)),
        state,
        partitions,
        draw(LONGS),
        draw(LONGS),
    )


def apache_records() -> list[Record]:
    return [record for batch in read_batches(memoryview(APACHE)) for record in read_records(batch)]


def test_a_log_of_apache_is_read_and_written_again_byte_for_byte() -> None:
    states = []
    for record in apache_records():
        assert record.key is not None and record.value is not None
        transactional_id = decode_key(record.key)
        assert transactional_id == "tx1"
        transaction = decode_value(transactional_id, record.value)
        states.append(transaction.state)
        assert encode_record(transaction) == (record.key, record.value)
    assert states == STORIES


def test_an_id_is_kept_where_apache_keeps_it() -> None:
    assert partition_for("tx1", 2) == 1  # That log's topic had two partitions.
    assert partition_for("tx1", 50) == 45
    assert partition_for("polygenelubricants", 50) == 0  # Its hash has no positive twin.


@given(transactions())
def test_what_is_written_is_read(transaction: Transaction) -> None:
    key, value = encode_record(transaction)
    assert value is not None
    assert decode_key(key) == transaction.transactional_id
    assert decode_value(transaction.transactional_id, value) == transaction


def test_the_flexible_version_is_read_too() -> None:
    topics = [PartitionsSchema(topic="t", partition_ids=[0, 2])]
    value = TransactionLogValue(
        producer_id=5,
        producer_epoch=3,
        transaction_timeout_ms=1000,
        transaction_status=1,
        transaction_partitions=topics,
        transaction_last_update_timestamp_ms=20,
        transaction_start_timestamp_ms=10,
    )
    transaction = decode_value("a", b"".join((b"\0\1", *encode(value, 1))))
    assert transaction.partitions == {TopicPartition("t", 0), TopicPartition("t", 2)}
    assert encode_value(transaction) == b"".join((b"\0\0", *encode(value, 0)))


def test_a_key_of_another_version_is_left_alone() -> None:
    assert decode_key(b"\0\1whatever") is None


@pytest.mark.parametrize("status", [6, 7, 8, -1])
def test_a_state_that_is_never_stored_is_an_error(status: int) -> None:
    value = bytearray(apache_records()[0].value or b"")
    value[16:17] = status.to_bytes(1, "big", signed=True)
    with pytest.raises(ProtocolError):
        decode_value("a", bytes(value))


@pytest.mark.parametrize("value", [b"", b"\0", b"\0\0", b"\0\2" + bytes(40)])
def test_what_is_no_value_is_an_error(value: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_value("a", value)


@given(st.lists(st.text(min_size=1, max_size=40), max_size=60), st.integers(200, 2000))
def test_tombstones_are_batched_up_to_the_size_of_a_batch(names: list[str], bytes_max: int) -> None:
    batches = in_batches(names, bytes_max)
    assert [name for batch in batches for name in batch] == names
    for batch in batches:
        tombstones = [encode_tombstone(name) for name in batch]
        records = [Record(at, 2**41, *each) for at, each in enumerate(tombstones)]
        assert len(write_batch(records, Envelope())) <= bytes_max or len(batch) == 1


def test_a_tombstone_is_a_key_without_a_value() -> None:
    assert encode_tombstone("a") == (encode_key("a"), None)
    assert encode_key("a") == b"\0\0\0\1a"
