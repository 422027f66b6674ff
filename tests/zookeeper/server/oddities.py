"""Requests that no good client sends, each picked by hand because a server must do something.

They are written as bytes, since our own writer would refuse to write many of them.
"""

from __future__ import annotations

from struct import pack

from odradek.zookeeper.wire.codes import Op, Xid
from tests.zookeeper.server.steps import Step, opening, saying

NULL = pack(">i", -1)
NONE = pack(">i", 0)  # An empty list, an empty text, no version, a plain create.
ANYONE = bytes.fromhex("000000010000001f00000005776f726c6400000006616e796f6e65")
ZXID = bytes(8)
END = pack(">ibi", -1, 1, -1)


def text(value: str) -> bytes:
    return pack(">i", len(value)) + value.encode()


def part(op: int) -> bytes:
    """The header of a part of a multi."""
    return pack(">ibi", op, 0, -1)


def create(path: str, flags: int = 0, acl: bytes = ANYONE) -> bytes:
    return text(path) + NONE + acl + pack(">i", flags)


def create_ttl(path: str, flags: int, ttl_ms: int) -> bytes:
    return create(path, flags) + pack(">q", ttl_ms)


CREATES: list[tuple[int, bytes]] = [
    (Op.CREATE, create("/null", acl=NULL)),
    (Op.CREATE, create("/none", acl=NONE)),
    (Op.CREATE, text("/data") + NULL + ANYONE + NONE),
    *((Op.CREATE, create(f"/create-{flags}", flags)) for flags in range(-1, 8)),
    *((Op.CREATE2, create(f"/create2-{flags}", flags)) for flags in range(-1, 8)),
    *((Op.CREATE_CONTAINER, create(f"/container-{flags}", flags)) for flags in range(-1, 8)),
    *((Op.CREATE_TTL, create_ttl(f"/ttl-{flags}", flags, 10**6)) for flags in range(-1, 8)),
]
MULTIS: list[tuple[int, bytes]] = [
    (Op.MULTI, b""),
    (Op.MULTI, END),
    (Op.MULTI, END + b"more"),
    (Op.MULTI, part(99) + END),
    (Op.MULTI, part(Op.MULTI) + END + END),
    (Op.MULTI, part(Op.GET_DATA) + text("/") + b"\0" + END),
    (Op.MULTI, part(Op.SET_ACL) + text("/") + ANYONE + NONE + END),
    (Op.MULTI, part(Op.DELETE_CONTAINER) + text("/create-0") + END),
    (Op.MULTI, part(Op.CREATE) + create("/m-other-end") + pack(">ibi", 0, 1, 0)),
    *((Op.MULTI, part(Op.CREATE) + create(f"/m1-{flags}", flags) + END) for flags in range(-1, 8)),
    *((Op.MULTI, part(Op.CREATE2) + create(f"/m2-{flags}", flags) + END) for flags in range(8)),
    *(
        (Op.MULTI, part(Op.CREATE_CONTAINER) + create(f"/m3-{flags}", flags) + END)
        for flags in range(8)
    ),
    *(
        (Op.MULTI, part(Op.CREATE_TTL) + create_ttl(f"/m4-{flags}", flags, 10**6) + END)
        for flags in range(-1, 8)
    ),
    (Op.MULTI_READ, END),
    (Op.MULTI_READ, part(Op.GET_DATA) + text("/") + b"\1" + END),
    (Op.MULTI_READ, part(Op.EXISTS) + text("/") + b"\0" + END),
    (Op.MULTI_READ, part(Op.CREATE) + create("/read") + END),
    (Op.MULTI_READ, part(Op.GET_DATA) + text("/") + b"\0" + part(Op.CREATE) + create("/x") + END),
]
READS: list[tuple[int, bytes]] = [
    *((op, NULL + b"\1") for op in (Op.EXISTS, Op.GET_DATA, Op.GET_CHILDREN, Op.GET_CHILDREN2)),
    *((op, b"") for op in (Op.EXISTS, Op.GET_ACL, Op.SYNC, Op.SET_WATCHES, Op.ADD_WATCH)),
    *((op, NULL) for op in (Op.GET_ACL, Op.GET_EPHEMERALS, Op.GET_ALL_CHILDREN_NUMBER)),
    *((Op.ADD_WATCH, text(path) + pack(">i", 1)) for path in ("", "nowhere", "/a/")),
    (Op.GET_ALL_CHILDREN_NUMBER, text("")),
    (Op.GET_EPHEMERALS, text("\0 ")),
    (Op.GET_DATA, pack(">i", 3) + b"/\xff\xfe" + b"\0"),
    (Op.SYNC, text("nowhere//")),
    (Op.WHO_AM_I, b"more"),
    (Op.PING, b"more"),
]
REARMINGS = [
    ZXID + NULL * 3,
    ZXID + NONE * 3,
    ZXID + pack(">i", 1) + NULL + NONE * 2,
    ZXID + pack(">i", 1) + text("no path//") + NONE * 2,
    ZXID + NONE + pack(">i", 1) + text("/no/path//") + NONE,
    ZXID + pack(">i", -7) * 3,
]
CREDENTIALS = [
    NULL + NULL,
    text("digest") + NULL,
    text("digest") + text("a:b"),
    text("digest") + NONE,
    text("ip") + text("1.2.3.4"),
    text("world") + text("anyone"),
    text("super") + text("x"),
    text("x509") + NULL,
]


def odd_steps() -> list[Step]:
    """Each request on its own, and its client back afterwards if it was thrown out."""
    asked = [(xid, *each) for xid, each in enumerate([*CREATES, *MULTIS, *READS], 1)]
    asked += [(Xid.SET_WATCHES, Op.SET_WATCHES, body) for body in REARMINGS]
    asked += [(Xid.AUTH, Op.AUTH, NONE + body) for body in CREDENTIALS]
    asked += [(900, Op.AUTH, NONE + text("digest") + text("a:b")), (901, Op.PING, b"")]
    asked += [(910, Op.SASL, NULL), (911, Op.SASL, NONE), (912, Op.SASL, text("token"))]
    asked += [(920, Op.CHECK, b""), (921, Op.CHECK, text("/") + NULL), (930, Op.RECONFIG, b"")]
    steps = [opening("A"), opening("B")]
    for xid, op, body in asked:
        frame = pack(">ii", xid, op) + body
        steps += [saying("A", pack(">i", len(frame)) + frame), opening("A", 1)]
    return steps
