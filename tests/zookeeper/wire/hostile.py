"""Bytes that nobody should send: good ones, cut, bent, mixed up and lied about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from random import Random
from struct import pack
from typing import Any, NamedTuple

from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.connection import ClientConnection, ServerConnection
from odradek.zookeeper.wire.election import ElectionReader, Hello, Notification
from odradek.zookeeper.wire.jute import Record
from odradek.zookeeper.wire.jute.shapes import (
    Blob,
    Fixed,
    Inner,
    LastBool,
    Many,
    Shape,
    Text,
    Usual,
    shapes_of,
)
from odradek.zookeeper.wire.messages.quorum import QuorumPacket
from odradek.zookeeper.wire.messages.requests import SetWatches
from odradek.zookeeper.wire.messages.session import AuthPacket
from odradek.zookeeper.wire.multi import MultiReadRequest, MultiRequest, MultiResponse
from odradek.zookeeper.wire.quorum import ForwardedRequest, PacketReader, decode_touches
from odradek.zookeeper.wire.transactions import TxnEntry
from tests.zookeeper.wire.golden import Line, exchange, framed, golden_bytes
from tests.zookeeper.wire.snapshots import log_entries
from tests.zookeeper.wire.values import RECORDS

Reader = Callable[[bytes], object]
BOMBS = [
    pack(">i", 2**31 - 1),  # A vector, or a string, of two thousand million.
    pack(">i", 0xFFFFF),  # All that a frame may hold.
    pack(">i", 0x7FFF),
    pack(">i", -1),
    pack(">i", -2),
    pack(">i", -(2**31)),
    b"\xed\xa0\x80",  # Half a character.
]


class Good(NamedTuple):
    """Bytes that a reader reads, to be spoilt."""

    reader: Reader
    data: bytes


def cases(seed: int) -> Iterator[Good]:
    """Hostile bytes and their reader, without end, the same for the same seed."""
    random = Random(seed)
    while True:
        good = random.choice(all_good())
        yield Good(good.reader, bent(good.data, random))


def truncated() -> Iterator[Good]:
    """Every record cut at each byte: there is always something missing."""
    for record_type in RECORDS:
        fields = shapes_of(record_type)
        data = filled(record_type, Random(7)).encode()
        if fields[-1][1] == LastBool():
            data = data[:-1]  # What is whole without its last byte can lose another.
        for end in range(len(data)):
            yield Good(record_type.decode, data[:end])


def bent(data: bytes, random: Random) -> bytes:
    """Change it in one of many ways."""
    spoilt = bytearray(data)
    at = random.randrange(len(spoilt) + 1)
    match random.randrange(7):
        case 0:  # Other bytes in a few places.
            for _ in range(random.randint(1, 4)):
                if spoilt:
                    spoilt[random.randrange(len(spoilt))] = random.randrange(256)
        case 1:  # A length or count that lies, in place of what was there.
            bomb = random.choice(BOMBS)
            spoilt[at : at + len(bomb)] = bomb
        case 2:  # The same, pushed in between.
            spoilt[at:at] = random.choice(BOMBS)
        case 3:  # Bytes missing in the middle.
            del spoilt[at : at + random.randint(1, 8)]
        case 4:  # Something else from here on.
            spoilt[at:] = random.choice(all_good()).data
        case 5:  # Nothing more from here on.
            del spoilt[at:]
        case 6:  # Nothing that means anything.
            spoilt[:] = random.randbytes(random.randrange(300))
    return bytes(spoilt)


@cache
def all_good() -> list[Good]:
    """Something to spoil for every reader there is."""
    random = Random(11)
    records = [
        Good(record_type.decode, filled(record_type, random).encode())
        for record_type in RECORDS
        for _ in range(3)
    ]
    return [*records, *good_exchange(), *good_entries(), *good_packets(), *good_votes()]


def good_exchange() -> Iterator[Good]:
    pending = 0
    for line in exchange():
        if line.request is not None:
            pending = int.from_bytes(line.request[4:8], "big", signed=True)
        yield from good_line(line, pending)


def good_line(line: Line, op: int) -> Iterator[Good]:
    """What the line says, frame by frame and body by body."""
    if line.what.startswith("connect"):
        yield Good(hear_first, framed(line.request or b""))
        yield Good(hear_first, b"stmk" + bytes(8))
        return
    if line.request is not None:
        yield Good(hear_request, framed(line.request))
    yield Good(partial(hear_reply, op), framed(line.answer))
    if op in (Op.MULTI, Op.MULTI_READ) and line.request:
        kind = MultiRequest if op == Op.MULTI else MultiReadRequest
        yield Good(kind.read, line.request[8:])
        yield Good(MultiResponse.read, line.answer[16:])


def good_entries() -> Iterator[Good]:
    for entry in log_entries(golden_bytes("log.1"), 16):
        yield Good(TxnEntry.decode, entry)


def good_packets() -> Iterator[Good]:
    random = Random(13)
    packets = [filled(QuorumPacket, random).encode() for _ in range(5)]
    yield Good(lambda data: PacketReader().feed(data), b"".join(packets))
    yield Good(ForwardedRequest.decode, ForwardedRequest(7, 1, Op.SYNC, b"body").encode())
    yield Good(decode_touches, bytes(36))


def good_votes() -> Iterator[Good]:
    vote = golden_bytes("election notification")
    yield Good(Notification.decode, vote)
    yield Good(hear_votes, Hello(2, ("localhost:3888",)).encode() + framed(vote))


def hear_first(data: bytes) -> object:
    return ServerConnection().feed(data)


def hear_request(data: bytes) -> object:
    connection = ServerConnection()
    connection.feed(framed(connect_lines()[0].request or b""))
    return connection.feed(data)


def hear_reply(op: int, data: bytes) -> object:
    """Read as a client that waits for whatever there is to wait for."""
    connection = ClientConnection(next_xid=int.from_bytes(data[4:8], "big") & 0x7FFFFFFF)
    connection.feed(framed(connect_lines()[0].answer))
    connection.ping()
    connection.authenticate(AuthPacket(0, "digest", b"u:p"))
    connection.set_watches(SetWatches(0, [], [], []))
    connection.request(Op(op))
    return connection.feed(data)


def hear_votes(data: bytes) -> object:
    return ElectionReader(expects_hello=True).feed(data)


def has_frames(reader: Reader) -> bool:
    """Whether it reads a stream of frames, for which a length alone may cost a buffer."""
    return isinstance(reader, partial) or reader in (hear_first, hear_request, hear_votes)


@cache
def connect_lines() -> list[Line]:
    return [line for line in exchange() if line.what.startswith("connect")]


def filled(record_type: type[Record], random: Random) -> Record:
    """A record with something in every field."""
    return record_type(*(fill(shape, random) for _, shape in shapes_of(record_type)))


def fill(shape: Shape, random: Random) -> Any:
    match shape:
        case Fixed("?") | LastBool():
            return random.random() < 0.5
        case Fixed(code):
            bits = {"i": 31, "q": 63}[code]
            return random.randrange(-(2**bits), 2**bits)
        case Text():
            return random.choice(["/", "/a", "ä", "world", "anyone", "/one/two/three"])
        case Blob():
            return random.randbytes(random.randrange(1, 20))
        case Many(item):
            return [fill(item, random) for _ in range(random.randint(1, 3))]
        case Inner(record_type):
            return filled(record_type, random)
        case Usual(unusual, value):
            return value() if random.random() < 0.5 else fill(unusual, random)
