"""Transactions as the log keeps them and a PROPOSAL carries them: header, record, digest.

The digest is there unless the transaction is an error, or its writer keeps none. Three things are
told apart by what is left of the bytes. A create from before 3.4 lacks its `parent_cversion`. A
session that closes names the paths that go with it only since 3.6. And an entry ends either after
its record or after its digest; anything else is not ours to guess, and is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Self

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.jute import Record, compile_reader, compile_writer
from odradek.zookeeper.wire.messages.txn import (
    CloseSessionTxn,
    CreateTxn,
    CreateTxnV0,
    MultiTxn,
    Txn,
    TxnDigest,
    TxnHeader,
)
from odradek.zookeeper.wire.multi import MultiRequest
from odradek.zookeeper.wire.operations import OPERATIONS

DIGEST_BYTES = 12
DIGEST_START = b"\0\0\0\2"  # The version of all digests so far.


@dataclass(frozen=True, slots=True)
class TypedMultiTxn:
    """A MultiTxn with its parts opened: type and record of each."""

    txns: list[tuple[int, Record]]

    @classmethod
    def read(cls, data: bytes, position: int = 0) -> tuple[Self, int]:
        """The transaction that starts at `position`, and where it ends."""
        multi, end = MultiTxn.read(data, position)
        return cls([(part.type, _open_part(part)) for part in multi.txns]), end

    def encode(self) -> bytes:
        return MultiTxn([Txn(op, record.encode()) for op, record in self.txns]).encode()


class TxnEntry(NamedTuple):
    """One transaction, whole. `record` is None where a closing session names no paths."""

    header: TxnHeader
    record: Record | TypedMultiTxn | None
    digest: TxnDigest | None

    @classmethod
    def decode(cls, data: bytes) -> TxnEntry:
        header, start = TxnHeader.read(data)
        read = _readers.get(header.type) or _reader_of(header.type)
        record, end = read(data, start)
        if end == len(data):
            return cls(header, record, None)
        digest, end = TxnDigest.read(data, end)
        if end != len(data):
            raise ProtocolError(f"{len(data) - end} bytes follow the digest of {header}")
        return cls(header, record, digest)

    def encode(self) -> bytes:
        record = self.record.encode() if self.record else b""
        digest = self.digest.encode() if self.digest else b""
        return self.header.encode() + record + digest


def encode_start(header: TxnHeader, record: Record | TypedMultiTxn) -> bytes:
    """Header and record in one go: what is logged but for the digest."""
    try:
        write = _writers[type(record)]
    except KeyError:
        write = _writers[type(record)] = _make_writer(type(record))
    return write(record, header.client_id, header.cxid, header.zxid, header.time, header.type)


_writers: dict[type, Callable[..., bytes]] = {}


def _make_writer(kind: type) -> Callable[..., bytes]:
    if issubclass(kind, Record):
        return compile_writer(kind, TxnHeader, is_framed=False)
    return lambda record, *numbers: TxnHeader(*numbers).encode() + record.encode()


def _open_part(part: Txn) -> Record:
    if part.type not in MultiRequest.kinds and part.type != Op.ERROR:
        raise ProtocolError(f"a transaction of type {part.type} in a multi")
    return _kind(part.type).decode(part.data)


def _kind(op: int) -> type[Record]:
    operation = OPERATIONS.get(op)
    if operation is None or operation.txn is None:
        raise ProtocolError(f"a transaction of type {op}")
    return operation.txn


def _reader_of(op: int) -> Reader:
    read: Reader = compile_reader(_kind(op))
    _readers[op] = read
    return read


def _read_closing(data: bytes, start: int) -> tuple[CloseSessionTxn | None, int]:
    if _is_digest_or_nothing(data[start:]):
        return None, start
    return CloseSessionTxn.read(data, start)


def _read_create(data: bytes, start: int) -> tuple[CreateTxn, int]:
    try:
        return CreateTxn.read(data, start)
    except ProtocolError:
        old, end = CreateTxnV0.read(data, start)
    return CreateTxn(old.path, old.data, old.acl, old.ephemeral, parent_cversion=-1), end


def _is_digest_or_nothing(rest: bytes) -> bool:
    """Whether no CloseSessionTxn is here: one of this size would have to list two empty paths."""
    return not rest or (len(rest) == DIGEST_BYTES and rest.startswith(DIGEST_START))


Reader = Callable[[bytes, int], tuple[Record | TypedMultiTxn | None, int]]
_readers: dict[int, Reader] = {  # Of records; the usual ones are added on first use.
    Op.MULTI: TypedMultiTxn.read,
    Op.CREATE: _read_create,
    Op.CLOSE_SESSION: _read_closing,
}
