"""kazoo as a second opinion: it writes the requests we write and reads the replies we write."""

from __future__ import annotations

from typing import Any

import pytest
from kazoo import security
from kazoo.exceptions import NoNodeError, RuntimeInconsistency
from kazoo.protocol import serialization as kazoo
from kazoo.protocol.states import ZnodeStat

from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.jute import Record
from odradek.zookeeper.wire.messages.data import ACL, Id, Stat
from odradek.zookeeper.wire.messages.requests import (
    CheckVersionRequest,
    CreateRequest,
    DeleteRequest,
    ExistsRequest,
    GetACLRequest,
    GetChildren2Request,
    GetChildrenRequest,
    GetDataRequest,
    ReconfigRequest,
    SetACLRequest,
    SetDataRequest,
    SyncRequest,
)
from odradek.zookeeper.wire.messages.responses import (
    Create2Response,
    CreateResponse,
    ErrorResponse,
    ExistsResponse,
    GetACLResponse,
    GetChildren2Response,
    GetChildrenResponse,
    GetDataResponse,
    SetACLResponse,
    SetDataResponse,
    SyncResponse,
    WatcherEvent,
)
from odradek.zookeeper.wire.messages.session import (
    AuthPacket,
    ConnectRequest,
    ConnectResponse,
    GetSASLRequest,
    MultiHeader,
    ReplyHeader,
    SetSASLResponse,
)
from odradek.zookeeper.wire.multi import MultiRequest, MultiResponse

STAT = Stat(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
KAZOO_STAT = ZnodeStat(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
ACLS = [ACL(31, Id("world", "anyone")), ACL(1, Id("digest", "u:ü"))]
KAZOO_ACLS = [
    security.ACL(31, security.Id("world", "anyone")),
    security.ACL(1, security.Id("digest", "u:ü")),
]
# What kazoo makes of an empty id is a null.
AUTH, KAZOO_AUTH = [ACL(31, Id("auth", None))], [security.ACL(31, security.Id("auth", ""))]

REQUESTS: list[tuple[Record | MultiRequest, Any]] = [
    (
        ConnectRequest(0, 7, 10_000, -1, b"p" * 16, read_only=True),
        kazoo.Connect(0, 7, 10_000, -1, b"p" * 16, True),
    ),
    (CreateRequest("/ä", b"x", ACLS, 3), kazoo.Create("/ä", b"x", KAZOO_ACLS, 3)),
    (CreateRequest("/a", None, AUTH, 0), kazoo.Create2("/a", None, KAZOO_AUTH, 0)),
    (DeleteRequest("/a", -1), kazoo.Delete("/a", -1)),
    (ExistsRequest("/a", watch=True), kazoo.Exists("/a", True)),
    (GetDataRequest("/a", watch=False), kazoo.GetData("/a", None)),
    (SetDataRequest("/a", b"", 7), kazoo.SetData("/a", b"", 7)),
    (GetACLRequest("/a"), kazoo.GetACL("/a")),
    (SetACLRequest("/a", ACLS, 2), kazoo.SetACL("/a", KAZOO_ACLS, 2)),
    (GetChildrenRequest("/a", watch=True), kazoo.GetChildren("/a", True)),
    (GetChildren2Request("/a", watch=False), kazoo.GetChildren2("/a", False)),
    (SyncRequest("/a"), kazoo.Sync("/a")),
    (CheckVersionRequest("/a", 3), kazoo.CheckVersion("/a", 3)),
    (ReconfigRequest("server.1=a", None, None, -1), kazoo.Reconfig("server.1=a", "", "", -1)),
    (AuthPacket(0, "digest", b"u:p"), kazoo.Auth(0, "digest", "u:p")),
    (GetSASLRequest(b"token"), kazoo.SASL(b"token")),
    (
        MultiRequest(
            [
                (Op.CHECK, CheckVersionRequest("/a", 3)),
                (Op.CREATE, CreateRequest("/b", b"x", ACLS, 1)),
                (Op.SET_DATA, SetDataRequest("/c", b"y", -1)),
                (Op.DELETE, DeleteRequest("/d", 0)),
            ]
        ),
        kazoo.Transaction(
            [
                kazoo.CheckVersion("/a", 3),
                kazoo.Create("/b", b"x", KAZOO_ACLS, 1),
                kazoo.SetData("/c", b"y", -1),
                kazoo.Delete("/d", 0),
            ]
        ),
    ),
]


@pytest.mark.parametrize(("ours", "theirs"), REQUESTS, ids=lambda value: type(value).__name__)
def test_kazoo_writes_the_same_request(ours: Record | MultiRequest, theirs: Any) -> None:
    written = bytes(theirs.serialize())
    assert ours.encode() == written
    assert type(ours).read(written)[0] == ours


REPLIES: list[tuple[Record, Any, Any]] = [
    (CreateResponse("/ä"), kazoo.Create, "/ä"),
    (Create2Response("/a", STAT), kazoo.Create2, ("/a", KAZOO_STAT)),
    (ExistsResponse(STAT), kazoo.Exists, KAZOO_STAT),
    (GetDataResponse(b"x", STAT), kazoo.GetData, (b"x", KAZOO_STAT)),
    (GetDataResponse(None, STAT), kazoo.GetData, (None, KAZOO_STAT)),
    (SetDataResponse(STAT), kazoo.SetData, KAZOO_STAT),
    (GetACLResponse(ACLS, STAT), kazoo.GetACL, (KAZOO_ACLS, KAZOO_STAT)),
    (SetACLResponse(STAT), kazoo.SetACL, KAZOO_STAT),
    (GetChildrenResponse(["a", "ä"]), kazoo.GetChildren, ["a", "ä"]),
    (GetChildren2Response([], STAT), kazoo.GetChildren2, ([], KAZOO_STAT)),
    (SyncResponse("/a"), kazoo.Sync, "/a"),
    (GetDataResponse(b"version=0", STAT), kazoo.Reconfig, (b"version=0", KAZOO_STAT)),
]


@pytest.mark.parametrize(("ours", "theirs", "value"), REPLIES)
def test_kazoo_reads_our_reply(ours: Record, theirs: Any, value: Any) -> None:
    assert theirs.deserialize(ours.encode(), 0) == value


WITH_END: list[tuple[Record, Any, Any]] = [
    (
        ConnectResponse(0, 10_000, -1, b"p" * 16, read_only=True),
        kazoo.Connect,
        kazoo.Connect(0, 0, 10_000, -1, b"p" * 16, True),
    ),
    (SetSASLResponse(b"token"), kazoo.SASL, b"token"),
    (WatcherEvent(3, 3, "/a"), kazoo.Watch, kazoo.Watch(3, 3, "/a")),
    (ReplyHeader(1, 2, -101), kazoo.ReplyHeader, kazoo.ReplyHeader(1, 2, -101)),
    (MultiHeader(14, True, -1), kazoo.MultiHeader, kazoo.MultiHeader(14, True, -1)),
]


@pytest.mark.parametrize(("ours", "theirs", "value"), WITH_END)
def test_kazoo_finds_the_same_end(ours: Record, theirs: Any, value: Any) -> None:
    encoded = ours.encode()
    assert theirs.deserialize(encoded, 0) == (value, len(encoded))


def test_kazoo_reads_the_results_of_our_multi() -> None:
    response = MultiResponse(
        [
            (Op.CREATE, CreateResponse("/b")),
            (Op.SET_DATA, SetDataResponse(STAT)),
            (Op.DELETE, None),
            (Op.CHECK, None),
        ]
    )
    results = kazoo.Transaction.deserialize(response.encode(), 0)
    assert results == ["/b", KAZOO_STAT, True, True]


def test_kazoo_reads_the_errors_of_our_multi() -> None:
    errors: list[tuple[int, Record | None]] = [
        (Op.ERROR, ErrorResponse(err)) for err in (0, -101, -2)
    ]
    results = kazoo.Transaction.deserialize(MultiResponse(errors).encode(), 0)
    assert [type(result) for result in results][1:] == [NoNodeError, RuntimeInconsistency]
