"""Groups from their log: the records in order give the state that they were written from.

A group's record holds a whole generation; before the first, and after a tombstone, a group is a
name for its offsets. Offsets of a transaction wait for its marker, as they did when written.
"""

from __future__ import annotations

from odradek.kafka.coordinator.group import Group, State
from odradek.kafka.coordinator.group_deadlines import Deadline, Kind
from odradek.kafka.coordinator.group_records import (
    GroupKey,
    OffsetKey,
    read_group_value,
    read_key,
    read_offset_value,
)
from odradek.kafka.coordinator.groups_desk import Desk
from odradek.kafka.coordinator.groups_rebalance import prepare
from odradek.kafka.coordinator.members import Client, Member
from odradek.kafka.coordinator.offsets import Logged
from odradek.kafka.wire.batch import Batch
from odradek.kafka.wire.control import MarkerType, read_marker
from odradek.kafka.wire.messages.group_metadata import GroupMetadataValue, MemberMetadata
from odradek.kafka.wire.records import Record, read_records
from odradek.runtime.errors import ProtocolError

REBALANCE_TIMEOUT_VERSION = 1  # Of the group's record: before it, the session timeout served.


def load_batch(desk: Desk, batch: Batch, now_ms: int) -> None:
    """Apply one batch of the log."""
    if batch.is_control:
        if marker := read_marker(batch):
            end_transaction(desk, batch.producer_id, marker.type is MarkerType.COMMIT)
        return
    producer_id = batch.producer_id if batch.is_transactional else None
    batch_offset: int | None = None
    for record in read_records(batch):
        # The first record's own offset: the cleaner may have taken those before it.
        batch_offset = record.offset if batch_offset is None else batch_offset
        load_record(desk, record, batch_offset, producer_id, now_ms)


def load_record(
    desk: Desk, record: Record, batch_offset: int, producer_id: int | None, now_ms: int
) -> None:
    if record.key is None:
        raise ProtocolError(f"the record at offset {record.offset} has no key")
    key = read_key(record.key)
    if isinstance(key, GroupKey):
        load_group(desk, key.group_id, record.value)
    elif key is not None and producer_id is None:
        load_offset(desk, key, record.value, batch_offset, now_ms)
    elif key is not None:
        assert producer_id is not None
        load_transactional_offset(desk, key, record.value, batch_offset, producer_id, now_ms)


def load_offset(
    desk: Desk, key: OffsetKey, value: bytes | None, batch_offset: int, now_ms: int
) -> None:
    offsets = desk.group_of(key.group_id, now_ms).offsets
    if value is not None:
        offsets.put(key.partition, Logged(read_offset_value(value), batch_offset))
    else:
        offsets.remove(key.partition, batch_offset)
        desk.forget_if_nothing_stored(key.group_id)


def load_transactional_offset(
    desk: Desk,
    key: OffsetKey,
    value: bytes | None,
    batch_offset: int,
    producer_id: int,
    now_ms: int,
) -> None:
    offsets = desk.group_of(key.group_id, now_ms).offsets
    if value is not None:
        logged = Logged(read_offset_value(value), batch_offset)
        offsets.hold(producer_id, key.partition, logged)
        desk.open_for_producer.setdefault(producer_id, {})[key.group_id] = None
    else:
        offsets.let_go(producer_id, key.partition)
        desk.forget_if_nothing_stored(key.group_id)


def end_transaction(desk: Desk, producer_id: int, is_commit: bool) -> None:
    """A marker was written: offsets of the producer's transaction count, or never were."""
    for group_id in desk.open_for_producer.pop(producer_id, {}):
        if group := desk.groups.get(group_id):
            group.offsets.end_transaction(producer_id, is_commit)
            desk.forget_if_nothing_stored(group_id)


def load_group(desk: Desk, group_id: str, data: bytes | None) -> None:
    known = desk.groups.get(group_id)
    if data is None:
        if known is not None:
            desk.discard(known)
        return
    value, version = read_group_value(data)
    group = desk.groups[group_id] = group_from(group_id, value)
    if known is not None:
        group.offsets = known.offsets
    for stored in value.members:
        group.add(member_from(group, stored, version))
    group.leader_id = value.leader if value.leader in group.members else group.leader_id
    group.topics = group.subscribed_topics()


def group_from(group_id: str, value: GroupMetadataValue) -> Group:
    since_ms = value.current_state_timestamp
    return Group(
        group_id,
        None if since_ms == -1 else since_ms,
        State.STABLE if value.members else State.EMPTY,
        value.protocol_type or None,
        value.protocol,
        value.generation,
    )


def member_from(group: Group, stored: MemberMetadata, version: int) -> Member:
    has_timeout = version >= REBALANCE_TIMEOUT_VERSION
    return Member(
        stored.member_id,
        stored.group_instance_id,
        Client(stored.client_id, stored.client_host),
        stored.rebalance_timeout if has_timeout else stored.session_timeout,
        stored.session_timeout,
        ((group.protocol or "", bytes(stored.subscription)),),
        Deadline(Kind.SESSION, group.group_id, stored.member_id),
        bytes(stored.assignment),
    )


def start_sessions(desk: Desk, now_ms: int) -> None:
    """All is loaded: members have a session timeout to be heard of, groups too large shrink."""
    for group in desk.groups.values():
        if len(group.members) > desk.limits.members_max:
            prepare(desk, group, now_ms)
        for member in group.members.values():
            desk.hear_from(member, now_ms)
