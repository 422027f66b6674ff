"""The records of `__consumer_offsets`: a version in two bytes, then the message.

The version of a key says what it is the key of: 0 and 1 an offset, 2 a classic group; later ones
belong to groups of the newer protocol, and are left alone. Values are written as Kafka 3.9 does
with its own inter-broker protocol: groups in version 3, offsets in 3, or in 1 where the client
gave them a time to live.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from struct import Struct, calcsize, error
from typing import NamedTuple

from odradek.kafka.coordinator.group import Group
from odradek.kafka.coordinator.offsets import CommittedOffset
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.batch_writer import WrittenRecords, write_pairs, write_record
from odradek.kafka.wire.codec import decode, encode
from odradek.kafka.wire.messages.group_metadata import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
)
from odradek.kafka.wire.messages.offset_commit_records import OffsetCommitKey, OffsetCommitValue
from odradek.kafka.wire.schema import Message
from odradek.kafka.wire.varint import VARINTS
from odradek.runtime.errors import ProtocolError

OFFSET_KEY_VERSION = 1
GROUP_KEY_VERSION = 2
GROUP_VALUE_VERSION = 3
OFFSET_VALUE_VERSION = 3
EXPIRING_OFFSET_VALUE_VERSION = 1
NEVER = -1
_VERSION = Struct(">h")
_PARTITION = Struct(">i")
# A bare record from its partition on: how its value begins (length and version), offset, leader
# epoch, no metadata, time of the commit; then no headers.
_BARE_END = "i3sqi2xqx"
_BARE_VALUE = VARINTS[24] + _VERSION.pack(OFFSET_VALUE_VERSION)


class OffsetKey(NamedTuple):
    """The key of a committed offset."""

    group_id: str
    partition: TopicPartition


class GroupKey(NamedTuple):
    """The key of a group."""

    group_id: str


def write_versioned(message: Message, version: int) -> bytes:
    return _VERSION.pack(version) + b"".join(encode(message, version))


def read_version(data: bytes) -> int:
    """The two bytes that every key and value starts with."""
    try:
        version: int = _VERSION.unpack_from(data)[0]
    except error as problem:
        raise ProtocolError(f"a record of {len(data)} bytes has no version") from problem
    return version


def write_offset_key(group_id: str, partition: TopicPartition) -> bytes:
    topic, number = partition
    return _offset_key_start(group_id, topic) + _PARTITION.pack(number)


@lru_cache(maxsize=4096)
def _offset_key_start(group_id: str, topic: str) -> bytes:
    """All but the partition, which is its last field: commits name many partitions of a topic."""
    key = OffsetCommitKey(group=group_id, topic=topic, partition=0)
    return write_versioned(key, OFFSET_KEY_VERSION)[: -_PARTITION.size]


def write_group_key(group_id: str) -> bytes:
    return write_versioned(GroupMetadataKey(group=group_id), GROUP_KEY_VERSION)


def read_key(data: bytes) -> OffsetKey | GroupKey | None:
    """Whose record it is; None if it is of a kind that we do not keep."""
    version = read_version(data)
    if version in (0, OFFSET_KEY_VERSION):
        key = decode(OffsetCommitKey, version, data[_VERSION.size :])
        return OffsetKey(key.group, TopicPartition(key.topic, key.partition))
    if version == GROUP_KEY_VERSION:
        return GroupKey(decode(GroupMetadataKey, version, data[_VERSION.size :]).group)
    return None


def write_offset_value(committed: CommittedOffset) -> bytes:
    offset, leader_epoch, metadata, commit_timestamp_ms, expire_timestamp_ms = committed
    has_expiry = expire_timestamp_ms != NEVER
    value = OffsetCommitValue(
        offset=offset,
        leader_epoch=leader_epoch,
        metadata=metadata,
        commit_timestamp=commit_timestamp_ms,
        expire_timestamp=expire_timestamp_ms,
    )
    version = EXPIRING_OFFSET_VALUE_VERSION if has_expiry else OFFSET_VALUE_VERSION
    return write_versioned(value, version)


def read_offset_value(data: bytes) -> CommittedOffset:
    value = decode(OffsetCommitValue, read_version(data), data[_VERSION.size :])
    return CommittedOffset(
        value.offset,
        value.leader_epoch,
        value.metadata,
        value.commit_timestamp,
        value.expire_timestamp,
    )


class BareRecord(NamedTuple):
    """How a record is written whose offset has neither metadata nor expiry."""

    pack: Callable[..., bytes]
    length: bytes  # Of all that follows.
    key_length: bytes


_NO_RECORD = BareRecord(Struct("").pack, b"", b"")


def write_offsets(
    group_id: str, commits: Mapping[TopicPartition, CommittedOffset]
) -> WrittenRecords:
    """What a commit appends: a record for each offset.

    There may be many, of few topics, and nearly all are bare: one call packs a whole record.
    """
    written: list[bytes] = []
    last_topic, delta_bytes, delta = None, 0, 0
    pack, length, start = _NO_RECORD
    for partition, committed in commits.items():
        # One plain tuple is taken apart faster than two with names.
        topic, number, offset, leader_epoch, metadata, time_ms, expire_ms = partition + committed
        octets = VARINTS[delta]
        if topic != last_topic or len(octets) != delta_bytes:
            last_topic, delta_bytes = topic, len(octets)
            key_start = _offset_key_start(group_id, topic)
            pack, length, key_length = _bare_record(len(key_start), delta_bytes)
            start = key_length + key_start
        if metadata or expire_ms != NEVER:
            key, value = write_offset_key(group_id, partition), write_offset_value(committed)
            written.append(write_record(delta, key, value))
        else:
            written.append(
                pack(length, octets, start, number, _BARE_VALUE, offset, leader_epoch, time_ms)
            )
        delta += 1
    return WrittenRecords(b"".join(written), delta)


@lru_cache(maxsize=1024)
def _bare_record(key_start_bytes: int, delta_bytes: int) -> BareRecord:
    """All bare records of these sizes have one form."""
    key_length = VARINTS[key_start_bytes + _PARTITION.size]
    start_bytes = len(key_length) + key_start_bytes
    body = f"2x{delta_bytes}s{start_bytes}s{_BARE_END}"  # 2x: no attributes, the batch's time.
    length = VARINTS[calcsize(">" + body)]
    return BareRecord(Struct(f">{len(length)}s{body}").pack, length, key_length)


def write_group(group: Group, assignments: Mapping[str, bytes]) -> WrittenRecords:
    """What a new generation appends: the group as it stands."""
    return write_pairs([(write_group_key(group.group_id), write_group_value(group, assignments))])


def write_group_value(group: Group, assignments: Mapping[str, bytes]) -> bytes:
    """A group as it stands, with the assignment of each of its members."""
    value = GroupMetadataValue(
        protocol_type=group.protocol_type or "",
        generation=group.generation_id,
        protocol=group.protocol,
        leader=group.leader_id,
        current_state_timestamp=-1 if group.state_since_ms is None else group.state_since_ms,
        members=member_records(group, assignments),
    )
    return write_versioned(value, GROUP_VALUE_VERSION)


def member_records(group: Group, assignments: Mapping[str, bytes]) -> list[MemberMetadata]:
    if group.protocol is None:
        return []
    return [
        MemberMetadata(
            member_id=member.member_id,
            group_instance_id=member.instance_id,
            client_id=member.client.client_id,
            client_host=member.client.host,
            rebalance_timeout=member.rebalance_timeout_ms,
            session_timeout=member.session_timeout_ms,
            subscription=member.metadata(group.protocol),
            assignment=assignments[member.member_id],
        )
        for member in group.members.values()
    ]


def read_group_value(data: bytes) -> tuple[GroupMetadataValue, int]:
    """A stored group, and the version it was written in."""
    version = read_version(data)
    return decode(GroupMetadataValue, version, data[_VERSION.size :]), version
