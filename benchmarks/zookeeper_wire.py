"""ZooKeeper's wire beside hand-written `struct` code: one request read, its reply written.

Ours reads a frame without knowing what is in it and writes a reply from records. The hand-written
functions know their operation beforehand, trust the client, and deal in bare tuples.
"""

from __future__ import annotations

from struct import Struct

from benchmarks.rounds import compare, report
from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.messages.data import ACL, Id, Stat
from odradek.zookeeper.wire.messages.requests import CreateRequest, GetDataRequest
from odradek.zookeeper.wire.messages.responses import CreateResponse, GetDataResponse
from odradek.zookeeper.wire.replies import encode_reply
from odradek.zookeeper.wire.requests import decode_request, encode_request

PATH = "/brokers/topics/orders/partitions/0/state"
DATA = b'{"controller_epoch":7,"leader":1,"version":1,"leader_epoch":3,"isr":[1,2,3]}'
WORLD = [ACL(31, Id("world", "anyone"))]
STAT = (0x100000003, 0x100000007, 1794725546000, 1794725547000, 1, 0, 0, 0, len(DATA), 0, 7)
ZXID = 0x100000009

unpack_start = Struct(">iii").unpack_from
unpack_int = Struct(">i").unpack_from
unpack_two_ints = Struct(">ii").unpack_from
pack_reply_start = Struct(">iiqii").pack
pack_stat = Struct(">qqqqiiiqiiq").pack

GetData = tuple[int, int, str, bool]
Create = tuple[int, int, str, bytes | None, list[tuple[int, str, str]], int]


def read_get_data(frame: bytes) -> GetData:
    """RequestHeader and GetDataRequest, by hand."""
    xid, op, size = unpack_start(frame)
    end = 12 + size
    return xid, op, frame[12:end].decode(), frame[end] != 0


def write_get_data(xid: int, zxid: int, data: bytes | None, stat: tuple[int, ...]) -> bytes:
    """Length, ReplyHeader and GetDataResponse, by hand."""
    if data is None:
        return pack_reply_start(88, xid, zxid, 0, -1) + pack_stat(*stat)
    size = len(data)
    return pack_reply_start(88 + size, xid, zxid, 0, size) + data + pack_stat(*stat)


def read_create(frame: bytes) -> Create:
    """RequestHeader and CreateRequest, by hand."""
    xid, op, size = unpack_start(frame)
    end = 12 + size
    path = frame[12:end].decode()
    (size,) = unpack_int(frame, end)
    start = end + 4
    if size == -1:
        data, end = None, start
    else:
        end = start + size
        data = frame[start:end]
    (count,) = unpack_int(frame, end)
    end += 4
    acl = []
    for _ in range(count):
        perms, size = unpack_two_ints(frame, end)
        start = end + 8
        end = start + size
        scheme = frame[start:end].decode()
        (size,) = unpack_int(frame, end)
        start = end + 4
        end = start + size
        acl.append((perms, scheme, frame[start:end].decode()))
    (flags,) = unpack_int(frame, end)
    return xid, op, path, data, acl, flags


def write_create(xid: int, zxid: int, path: str) -> bytes:
    """Length, ReplyHeader and CreateResponse, by hand."""
    encoded = path.encode()
    size = len(encoded)
    return pack_reply_start(20 + size, xid, zxid, 0, size) + encoded


def compare_get_data() -> None:
    frame = encode_request(9, Op.GET_DATA, GetDataRequest(PATH, watch=False))[4:]
    response = GetDataResponse(DATA, Stat(*STAT))

    def ours() -> bytes:
        return encode_reply(decode_request(frame).xid, ZXID, response)

    def by_hand() -> bytes:
        return write_get_data(read_get_data(frame)[0], ZXID, DATA, STAT)

    assert ours() == by_hand()
    report("getData: request read, reply written", *compare(ours, by_hand), "by hand", goal=2)


def compare_create() -> None:
    frame = encode_request(9, Op.CREATE, CreateRequest(PATH, DATA, WORLD, 0))[4:]
    response = CreateResponse(PATH)

    def ours() -> bytes:
        return encode_reply(decode_request(frame).xid, ZXID, response)

    def by_hand() -> bytes:
        return write_create(read_create(frame)[0], ZXID, PATH)

    assert ours() == by_hand()
    report("create: request read, reply written", *compare(ours, by_hand), "by hand", goal=2)


if __name__ == "__main__":
    compare_get_data()
    compare_create()
