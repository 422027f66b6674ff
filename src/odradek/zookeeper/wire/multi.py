"""Several operations in one request, and their results.

Both bodies repeat a MultiHeader and a record; a header that says `done` ends them. A result is
the operation's response under its own type (a create that returns a stat always says CREATE2), or
an ErrorResponse under type ERROR. Of a multi that failed, every part gets such an error: 0 before
the one that failed, RUNTIME_INCONSISTENCY after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.jute import Record
from odradek.zookeeper.wire.messages.requests import (
    CheckVersionRequest,
    CreateRequest,
    CreateTTLRequest,
    DeleteRequest,
    GetChildrenRequest,
    GetDataRequest,
    SetDataRequest,
)
from odradek.zookeeper.wire.messages.responses import (
    Create2Response,
    CreateResponse,
    ErrorResponse,
    GetChildrenResponse,
    GetDataResponse,
    SetDataResponse,
)
from odradek.zookeeper.wire.messages.session import MultiHeader

END = bytes.fromhex("ffffffff 01 ffffffff")  # MultiHeader(type=-1, done=True, err=-1)


@dataclass(frozen=True, slots=True)
class MultiRequest:
    """Writes and checks that happen together or not at all."""

    operations: list[tuple[int, Record]]

    kinds: ClassVar[Mapping[int, type[Record]]] = {
        Op.CREATE: CreateRequest,
        Op.CREATE2: CreateRequest,
        Op.CREATE_CONTAINER: CreateRequest,
        Op.CREATE_TTL: CreateTTLRequest,
        Op.DELETE: DeleteRequest,
        Op.SET_DATA: SetDataRequest,
        Op.CHECK: CheckVersionRequest,
    }

    @classmethod
    def read(cls, data: bytes, position: int = 0) -> tuple[Self, int]:
        """The body that starts at `position`, and where it ends."""
        operations = []
        header, position = MultiHeader.read(data, position)
        while not header.done:
            if header.type not in cls.kinds:
                raise ProtocolError(f"operation {header.type} in a {cls.__name__}")
            record, position = cls.kinds[header.type].read(data, position)
            operations.append((header.type, record))
            header, position = MultiHeader.read(data, position)
        return cls(operations), position

    def encode(self) -> bytes:
        parts = [
            MultiHeader(op, done=False, err=-1).encode() + record.encode()
            for op, record in self.operations
        ]
        return b"".join(parts) + END


class MultiReadRequest(MultiRequest):
    """Reads, each with a result or an error of its own."""

    __slots__ = ()

    kinds: ClassVar[Mapping[int, type[Record]]] = {
        Op.GET_DATA: GetDataRequest,
        Op.GET_CHILDREN: GetChildrenRequest,
    }


RESULTS: Mapping[int, type[Record] | None] = {
    Op.ERROR: ErrorResponse,
    Op.CREATE: CreateResponse,
    Op.CREATE2: Create2Response,
    Op.SET_DATA: SetDataResponse,
    Op.DELETE: None,
    Op.CHECK: None,
    Op.GET_DATA: GetDataResponse,
    Op.GET_CHILDREN: GetChildrenResponse,
}


@dataclass(frozen=True, slots=True)
class MultiResponse:
    """The results of either kind, in the order of the operations."""

    results: list[tuple[int, Record | None]]

    @classmethod
    def read(cls, data: bytes, position: int = 0) -> tuple[Self, int]:
        """The body that starts at `position`, and where it ends."""
        results: list[tuple[int, Record | None]] = []
        header, position = MultiHeader.read(data, position)
        while not header.done:
            if header.type not in RESULTS:
                raise ProtocolError(f"a result of operation {header.type} in a multi")
            record: Record | None = None
            if kind := RESULTS[header.type]:
                record, position = kind.read(data, position)
            results.append((header.type, record))
            header, position = MultiHeader.read(data, position)
        return cls(results), position

    def encode(self) -> bytes:
        return b"".join(map(_encode_result, self.results)) + END


def _encode_result(result: tuple[int, Record | None]) -> bytes:
    op, record = result
    err = record.err if isinstance(record, ErrorResponse) else 0
    return MultiHeader(op, done=False, err=err).encode() + (record.encode() if record else b"")
