"""Transactions as `__transaction_state` holds them, byte for byte as Kafka 3.9 writes them.

Key and value begin with their versions. The value is version 0: the flexible version 1 waits for
a feature that a cluster with ZooKeeper cannot turn on, but is read. A key of another version is
left alone; no value at all means that the id is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from struct import Struct
from typing import NamedTuple

from odradek.kafka.coordinator.txn_state import STORED, State, Transaction
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.batch import HEADER_BYTES
from odradek.kafka.wire.codec import decode, encode
from odradek.kafka.wire.messages.transaction_log import (
    PartitionsSchema,
    TransactionLogKey,
    TransactionLogValue,
)
from odradek.kafka.wire.octets import Octets
from odradek.kafka.wire.schema import Message
from odradek.runtime.errors import ProtocolError

KEY_VERSION = 0
VALUE_VERSION = 0
RECORD_OVERHEAD_BYTES_MAX = 32  # Lengths, deltas and attributes of a record, at their largest.
_VERSION = Struct(">h")


class StoredRecord(NamedTuple):
    """A record to be appended."""

    key: bytes
    value: bytes | None


def encode_record(transaction: Transaction) -> StoredRecord:
    return StoredRecord(encode_key(transaction.transactional_id), encode_value(transaction))


def encode_tombstone(transactional_id: str) -> StoredRecord:
    return StoredRecord(encode_key(transactional_id), None)


def encode_key(transactional_id: str) -> bytes:
    return _prefixed(TransactionLogKey(transactional_id=transactional_id), KEY_VERSION)


def encode_value(transaction: Transaction) -> bytes:
    is_empty = transaction.state is State.EMPTY
    value = TransactionLogValue(
        producer_id=transaction.producer_id,
        producer_epoch=transaction.producer_epoch,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_status=transaction.state,
        transaction_partitions=None if is_empty else _by_topic(transaction.partitions),
        transaction_last_update_timestamp_ms=transaction.updated_ms,
        transaction_start_timestamp_ms=transaction.started_ms,
    )
    return _prefixed(value, VALUE_VERSION)


def in_batches(transactional_ids: Iterable[str], bytes_max: int) -> list[tuple[str, ...]]:
    """As many ids together as their tombstones have room in one batch; at least one."""
    batches: list[list[str]] = []
    room = 0
    for transactional_id in transactional_ids:
        size = len(encode_key(transactional_id)) + RECORD_OVERHEAD_BYTES_MAX
        if size > room:
            batches.append([])
            room = bytes_max - HEADER_BYTES
        batches[-1].append(transactional_id)
        room -= size
    return [tuple(batch) for batch in batches]


def decode_key(key: Octets) -> str | None:
    """The transactional id; None if the key is of a version that we do not know."""
    if _version_of(key) != KEY_VERSION:
        return None
    return decode(TransactionLogKey, KEY_VERSION, key[_VERSION.size :]).transactional_id


def decode_value(transactional_id: str, value: Octets) -> Transaction:
    stored = decode(TransactionLogValue, _version_of(value), value[_VERSION.size :])
    if stored.transaction_status not in STORED:
        raise ProtocolError(f"state {stored.transaction_status} of {transactional_id!r}")
    return Transaction(
        transactional_id,
        stored.producer_id,
        stored.producer_epoch,
        stored.transaction_timeout_ms,
        State(stored.transaction_status),
        frozenset(
            TopicPartition(each.topic, partition)
            for each in stored.transaction_partitions or ()
            for partition in each.partition_ids
        ),
        stored.transaction_start_timestamp_ms,
        stored.transaction_last_update_timestamp_ms,
    )


def group_by_topic(partitions: Iterable[TopicPartition]) -> Iterable[tuple[str, list[int]]]:
    """Each topic with its partitions, all in order."""
    for topic, group in groupby(sorted(partitions), key=lambda each: each.topic):
        yield topic, [each.partition for each in group]


def _by_topic(partitions: Iterable[TopicPartition]) -> list[PartitionsSchema]:
    grouped = group_by_topic(partitions)
    return [PartitionsSchema(topic=topic, partition_ids=numbers) for topic, numbers in grouped]


def _prefixed(message: Message, version: int) -> bytes:
    return b"".join((_VERSION.pack(version), *encode(message, version)))


def _version_of(data: Octets) -> int:
    if len(data) < _VERSION.size:
        raise ProtocolError(f"a stored record of {len(data)} bytes has no version")
    version: int = _VERSION.unpack_from(data)[0]
    return version
