"""What a write would do, or why it is refused; the checks in the original's order."""

from __future__ import annotations

import pytest

from odradek.zookeeper.state import acl
from odradek.zookeeper.state.asker import Rules
from odradek.zookeeper.state.tree import OPEN_ACL
from odradek.zookeeper.wire.codes import CreateMode, Op, Perms
from odradek.zookeeper.wire.errors import Error
from odradek.zookeeper.wire.messages.data import ACL, Id
from odradek.zookeeper.wire.messages.requests import (
    CheckVersionRequest,
    CreateRequest,
    DeleteRequest,
    SetACLRequest,
    SetDataRequest,
)
from odradek.zookeeper.wire.messages.responses import CreateResponse, ErrorResponse
from odradek.zookeeper.wire.multi import MultiRequest, MultiResponse
from tests.zookeeper.state.asking import SESSION, Asking

NOBODY = (ACL(Perms.ALL, Id("digest", "nobody:x")),)


def test_a_created_node_can_be_found() -> None:
    asking = Asking()
    assert asking.create("/a", b"x") == CreateResponse("/a")
    node = asking.tree.nodes["/a"]
    assert (node.data, node.czxid, node.version, node.owner) == (b"x", 1, 0, 0)
    assert asking.tree.nodes["/"].children == {"zookeeper": None, "a": None}


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("/missing/a", Error.NO_NODE),
        ("/x//y", Error.NO_NODE),  # The parent is looked for before the path is checked.
        ("/there", Error.NODE_EXISTS),
        ("/ephemeral/a", Error.NO_CHILDREN_FOR_EPHEMERALS),
        ("/locked/a", Error.NO_AUTH),
        ("a", Error.BAD_ARGUMENTS),
        ("/a\0b", Error.BAD_ARGUMENTS),
        ("/there/", Error.BAD_ARGUMENTS),
        ("/there/..", Error.BAD_ARGUMENTS),
    ],
)
def test_a_create_is_refused(path: str, error: Error) -> None:
    asking = Asking()
    asking.create("/there")
    asking.create("/locked", acl=NOBODY)
    asking.create("/ephemeral", flags=CreateMode.EPHEMERAL)
    assert asking.create(path) is error


def test_a_sequential_node_is_numbered_by_the_creates_of_its_parent() -> None:
    asking = Asking()
    asking.create("/p")
    asking.create("/p/a")
    asking.delete("/p/a")
    answer = asking.create("/p/n-", flags=CreateMode.PERSISTENT_SEQUENTIAL)
    assert answer == CreateResponse("/p/n-0000000001")
    assert asking.create("/p/", flags=CreateMode.EPHEMERAL_SEQUENTIAL) == CreateResponse(
        "/p/0000000002"
    )


def test_modes_that_do_not_exist_or_are_switched_off_are_refused() -> None:
    assert Asking().create("/a", flags=9) is Error.BAD_ARGUMENTS
    assert Asking(Rules()).create_ttl("/a", 1000) is Error.UNIMPLEMENTED
    assert Asking().create_ttl("/a", 0) is Error.BAD_ARGUMENTS
    assert Asking().create_ttl("/a", 1 << 40) is Error.BAD_ARGUMENTS
    assert Asking().create_ttl("/a", 1000, flags=CreateMode.PERSISTENT) is not Error.OK


def test_an_acl_must_be_there_and_make_sense() -> None:
    asking = Asking()
    assert asking.create("/a", acl=()) is Error.INVALID_ACL
    for scheme, name in [("nosuch", "x"), ("digest", "x"), ("world", "me"), ("ip", "1.2.3")]:
        assert asking.create("/a", acl=(ACL(31, Id(scheme, name)),)) is Error.INVALID_ACL
    assert asking.create("/a", acl=(ACL(31, Id("auth", "")),)) is Error.INVALID_ACL


def test_auth_stands_for_the_ids_of_the_client() -> None:
    mine = Id("digest", acl.digest_of(b"me:secret"))
    asking = Asking(ids=[Id("ip", "127.0.0.1"), mine])
    asking.create("/a", acl=(ACL(Perms.ALL, Id("auth", "")),))
    assert asking.tree.nodes["/a"].acl == (ACL(Perms.ALL, mine),)


def test_a_delete_needs_the_right_version_no_children_and_leave_of_the_parent() -> None:
    asking = Asking()
    asking.create("/p")
    asking.create("/p/a")
    assert asking.delete("/p/a", 3) is Error.BAD_VERSION
    assert asking.delete("/p") is Error.NOT_EMPTY
    assert asking.delete("/nope") is Error.NO_NODE
    assert asking.delete("/nope/a") is Error.NO_NODE
    assert asking.delete("/p/a", 0) is None
    asking.ask(Op.SET_ACL, SetACLRequest("/", list(NOBODY), -1))
    assert asking.delete("/p") is Error.NO_AUTH


@pytest.mark.parametrize(
    "path", ["/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config", "", "a"]
)
def test_system_nodes_cannot_be_deleted(path: str) -> None:
    assert Asking().delete(path) is Error.BAD_ARGUMENTS


def test_versions_count_up_and_wrap_around() -> None:
    asking = Asking()
    asking.create("/a")
    assert asking.set("/a", b"1", 5) is Error.BAD_VERSION
    asking.set("/a", b"1", 0)
    assert asking.tree.nodes["/a"].version == 1
    asking.tree.nodes["/a"].version = 2**31 - 1
    asking.set("/a", b"2")
    assert asking.tree.nodes["/a"].version == -(2**31)


def test_writing_to_what_is_not_there_says_whether_it_could_be() -> None:
    assert Asking().set("/nope", b"") is Error.NO_NODE
    assert Asking().set("/nope/", b"") is Error.BAD_ARGUMENTS
    assert Asking().set("", b"") is Error.BAD_ARGUMENTS


def test_the_next_write_sees_what_is_decided_and_not_yet_committed() -> None:
    asking = Asking()
    first = asking.processor.prepare(
        asking.asker, 1, Op.CREATE, CreateRequest("/a", b"", list(OPEN_ACL), 0), 0
    )
    second = asking.processor.prepare(
        asking.asker, 2, Op.SET_DATA, SetDataRequest("/a", b"x", 0), 0
    )
    third = asking.processor.prepare(
        asking.asker, 3, Op.CREATE, CreateRequest("/a", b"", list(OPEN_ACL), 0), 0
    )
    assert asking.tree.get("/a") is None
    answers = [asking.processor.commit(each)[0] for each in (first, second, third)]
    assert answers[0] == CreateResponse("/a")
    assert answers[2] is Error.NODE_EXISTS
    assert asking.tree.nodes["/a"].data == b"x"
    assert asking.processor.layer.digest == asking.tree.digest


def test_a_multi_happens_whole_or_not_at_all() -> None:
    asking = Asking()
    asking.create("/a", b"old")
    new = CreateRequest("/a/b", b"", list(OPEN_ACL), 0)
    parts: list[tuple[int, object]] = [
        (Op.CREATE, new),
        (Op.SET_DATA, SetDataRequest("/a", b"new", 0)),
        (Op.DELETE, DeleteRequest("/nope", -1)),
        (Op.CHECK, CheckVersionRequest("/a", 0)),
    ]
    answer = asking.ask(Op.MULTI, MultiRequest(parts))  # type: ignore[arg-type]
    errors = [Error.OK, Error.OK, Error.NO_NODE, Error.RUNTIME_INCONSISTENCY]
    assert answer == MultiResponse([(Op.ERROR, ErrorResponse(error)) for error in errors])
    assert asking.tree.nodes["/a"].data == b"old"
    assert "/a/b" not in asking.tree.nodes
    assert asking.create("/a/b") == CreateResponse("/a/b")


def test_the_parts_of_a_multi_see_each_other() -> None:
    asking = Asking()
    parts = [
        (Op.CREATE, CreateRequest("/a", b"", list(OPEN_ACL), 0)),
        (Op.CREATE, CreateRequest("/a/n-", b"", list(OPEN_ACL), 2)),
        (Op.CREATE, CreateRequest("/a/n-", b"", list(OPEN_ACL), 2)),
    ]
    answer = asking.ask(Op.MULTI, MultiRequest(parts))  # type: ignore[arg-type]
    assert isinstance(answer, MultiResponse)
    paths = [result.path for _, result in answer.results]  # type: ignore[union-attr]
    assert paths == ["/a", "/a/n-0000000000", "/a/n-0000000001"]
    assert asking.tree.digest == asking.processor.layer.digest


def test_a_session_takes_its_ephemerals_with_it_pending_ones_too() -> None:
    asking = Asking()
    asking.create("/a", flags=CreateMode.EPHEMERAL)
    asking.create("/stays")
    pending = asking.processor.prepare(
        asking.asker, 1, Op.CREATE, CreateRequest("/b", b"", list(OPEN_ACL), 1), 0
    )
    closing = asking.processor.prepare(asking.asker, 2, Op.CLOSE_SESSION, None, 0)
    asking.processor.commit(pending)
    assert asking.tree.ephemerals_of(SESSION) == {"/a", "/b"}
    asking.processor.commit(closing)
    assert asking.tree.ephemerals == {}
    assert set(asking.tree.nodes["/"].children or ()) == {"zookeeper", "stays"}
    assert asking.processor.layer.digest == asking.tree.digest


def test_a_hard_quota_refuses_and_a_soft_one_does_not() -> None:
    asking = Asking(Rules(enforces_quotas=True))
    asking.create("/q")
    for path in ("/zookeeper/quota/q",):
        asking.create(path)
    asking.create("/zookeeper/quota/q/zookeeper_limits", b"count=1,bytes=-1=;countHardLimit=2")
    asking.create("/zookeeper/quota/q/zookeeper_stats", b"count=0,bytes=0")
    assert asking.tree.nodes["/zookeeper/quota/q/zookeeper_stats"].data == b"count=1,bytes=0"
    assert asking.create("/q/one", b"abc") == CreateResponse("/q/one")
    assert asking.tree.nodes["/zookeeper/quota/q/zookeeper_stats"].data == b"count=2,bytes=3"
    assert asking.create("/q/two") is Error.QUOTA_EXCEEDED
    asking.set("/q/one", b"abcdef")
    assert asking.tree.nodes["/zookeeper/quota/q/zookeeper_stats"].data == b"count=2,bytes=6"
    asking.delete("/q/one")
    assert asking.tree.nodes["/zookeeper/quota/q/zookeeper_stats"].data == b"count=1,bytes=0"
    asking.delete("/zookeeper/quota/q/zookeeper_limits")
    assert asking.tree.quotas.paths == set()


def test_the_root_is_one_node_under_both_its_names() -> None:
    asking = Asking()
    requests = [
        (Op.CREATE, CreateRequest("/a", b"", list(OPEN_ACL), 0)),
        (Op.SET_DATA, SetDataRequest("/", b"x", -1)),
        (Op.CREATE, CreateRequest("/b", b"", list(OPEN_ACL), 0)),
        (Op.SET_ACL, SetACLRequest("/", list(OPEN_ACL), -1)),
        (Op.DELETE, DeleteRequest("/a", -1)),
    ]
    pending = [
        asking.processor.prepare(asking.asker, 1, op, request, 0) for op, request in requests
    ]
    for proposal in pending:
        asking.processor.commit(proposal)
    assert asking.processor.layer.digest == asking.tree.digest
