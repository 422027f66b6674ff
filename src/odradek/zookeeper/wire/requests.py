"""Requests on the wire: length, RequestHeader, body.

This is the hot path of a server, so there is one compiled function per operation that reads
header and body together. The four bytes that name the operation pick it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from struct import Struct
from struct import error as struct_error

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.wire.jute import Record, compile_reader, compile_writer
from odradek.zookeeper.wire.messages.session import RequestHeader
from odradek.zookeeper.wire.multi import MultiRequest
from odradek.zookeeper.wire.operations import BY_CLIENTS, OPERATIONS, Body

HEADER = Struct(">ii")
FRAMED_HEADER = Struct(">iii")


@dataclass(slots=True)
class Request:
    """One client's request.

    `record` is None if the operation has no body, or is not one that clients may ask for: then
    `type` says which, and the server answers UNIMPLEMENTED. Not frozen, because the compiled
    readers fill its slots.
    """

    xid: int
    type: int
    record: Body | None
    frame: bytes  # As it came, without its length.

    @property
    def body(self) -> bytes:
        """What follows the header, as a learner hands it on to its leader."""
        return self.frame[HEADER.size :]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A request with a body that makes no sense under its header."""

    xid: int
    type: int
    why: str


def decode_request(frame: bytes) -> Request:
    """Read one frame, given without its length."""
    return (readers.get(frame[4:8]) or reader_of(frame))(frame)


def decode_if_readable(frame: bytes) -> Request | Unreadable:
    """Read one frame; its header at least must be whole."""
    header = _read_header(frame)
    try:
        return decode_request(frame)
    except ProtocolError as error:
        return Unreadable(header.xid, header.type, str(error))


def decode_body(op: int, body: bytes) -> Body | None:
    """Read the body that a learner handed on to its leader."""
    if op not in OPERATIONS:
        raise ProtocolError(f"a request of type {op}")
    kind = OPERATIONS[op].request
    return kind.read(body)[0] if kind else None


def encode_request(xid: int, op: int, record: Body | None = None) -> bytes:
    """One frame, with its length."""
    if record is None:
        return FRAMED_HEADER.pack(HEADER.size, xid, op)
    try:
        write = _writers[type(record)]
    except KeyError:
        write = _writers[type(record)] = _make_writer(type(record))
    return write(record, xid, op)


readers: dict[bytes, Callable[[bytes], Request]] = {}  # Those that were used, by operation.
_writers: dict[type, Callable[..., bytes]] = {}


def reader_of(frame: bytes) -> Callable[[bytes], Request]:
    """What reads such a frame; the next one finds it in `readers`."""
    operation = BY_CLIENTS.get(_read_header(frame).type)
    if operation is None:
        return _read_header  # And not kept: a peer could fill our memory with made-up codes.
    reader = readers[frame[4:8]] = _make_reader(operation.request)
    return reader


def _make_reader(
    kind: type[Record] | type[MultiRequest] | None,
) -> Callable[[bytes], Request]:
    if kind is None:
        return _read_header
    if issubclass(kind, Record):
        return compile_reader(kind, RequestHeader, Request)
    return lambda frame: _read_multi(kind, frame)


def _read_header(frame: bytes) -> Request:
    try:
        xid, op = HEADER.unpack_from(frame)
    except struct_error as error:
        raise ProtocolError(f"a request of {len(frame)} bytes") from error
    return Request(xid, op, None, frame)


def _read_multi(kind: type[MultiRequest], frame: bytes) -> Request:
    request = _read_header(frame)
    request.record, _ = kind.read(frame, HEADER.size)
    return request


def _make_writer(kind: type) -> Callable[..., bytes]:
    return compile_writer(kind, RequestHeader) if issubclass(kind, Record) else _write_multi


def _write_multi(record: MultiRequest, xid: int, op: int) -> bytes:
    body = record.encode()
    return FRAMED_HEADER.pack(HEADER.size + len(body), xid, op) + body
