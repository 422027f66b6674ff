"""Log and snapshot files taken apart and put together again, checksums and all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from struct import Struct
from typing import TypeVar
from zlib import adler32

from odradek.zookeeper.wire.jute import Buffer, Int, Long, Record, String, Vector
from odradek.zookeeper.wire.messages.data import ACL, StatPersisted
from odradek.zookeeper.wire.messages.file import FileHeader

R = TypeVar("R", bound=Record)

ENTRY_START = Struct(">qi")
ENTRY_END = b"B"
COUNT = Struct(">i")


class Session(Record):
    id: Long
    time_out: Int


class AclEntry(Record):
    id: Long
    acl: Vector[ACL]


class Path(Record):
    path: String


class Node(Record):
    data: Buffer | None
    acl_id: Long
    stat: StatPersisted


class Seal(Record):
    adler: Long
    path: String


class Digest(Record):
    zxid: Long
    version: Int
    digest: Long


class LastProcessed(Record):
    zxid: Long


@dataclass
class Snapshot:
    header: FileHeader
    sessions: list[Session] = field(default_factory=list)
    acls: list[AclEntry] = field(default_factory=list)
    nodes: list[tuple[Path, Node]] = field(default_factory=list)
    sealed: list[Record] = field(default_factory=list)  # What follows the tree, each under a seal.


def log_entries(data: bytes, position: int) -> Iterator[bytes]:
    """The entries of a log, their checksums verified."""
    while position < len(data):
        checksum, size = ENTRY_START.unpack_from(data, position)
        start = position + ENTRY_START.size
        position = start + size
        entry = data[start:position]
        assert checksum == adler32(entry)
        assert data[position : position + 1] == ENTRY_END
        yield entry
        position += 1


def log_bytes(header: FileHeader, entries: list[bytes]) -> bytes:
    parts = [header.encode()]
    for entry in entries:
        parts += [ENTRY_START.pack(adler32(entry), len(entry)), entry, ENTRY_END]
    return b"".join(parts)


def read_snapshot(data: bytes) -> Snapshot:
    header, position = FileHeader.read(data)
    snapshot = Snapshot(header)
    position = _read_counted(Session, snapshot.sessions, data, position)
    position = _read_counted(AclEntry, snapshot.acls, data, position)
    path, position = Path.read(data, position)
    while path != Path("/"):
        node, position = Node.read(data, position)
        snapshot.nodes.append((path, node))
        path, position = Path.read(data, position)
    position = _check_seal(data, position)
    for kind in (Digest, LastProcessed):
        record, position = kind.read(data, position)
        snapshot.sealed.append(record)
        position = _check_seal(data, position)
    assert position == len(data)
    return snapshot


def snapshot_bytes(snapshot: Snapshot) -> bytes:
    data = snapshot.header.encode()
    for records in (snapshot.sessions, snapshot.acls):
        data += COUNT.pack(len(records)) + b"".join(record.encode() for record in records)
    data += b"".join(path.encode() + node.encode() for path, node in snapshot.nodes)
    data += Path("/").encode()
    data += Seal(adler32(data), "/").encode()
    for record in snapshot.sealed:
        data += record.encode()
        data += Seal(adler32(data), "/").encode()
    return data


def _read_counted(kind: type[R], records: list[R], data: bytes, position: int) -> int:
    (count,) = COUNT.unpack_from(data, position)
    position += COUNT.size
    for _ in range(count):
        record, position = kind.read(data, position)
        records.append(record)
    return position


def _check_seal(data: bytes, position: int) -> int:
    seal, end = Seal.read(data, position)
    assert seal == Seal(adler32(data[:position]), "/")
    return end
