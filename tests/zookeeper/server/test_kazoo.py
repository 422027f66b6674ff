"""kazoo, unchanged, against our server: data, transactions, ACLs, chroots and watches."""

from __future__ import annotations

from queue import Queue
from typing import Any

import pytest
from kazoo.exceptions import (
    AuthFailedError,
    BadVersionError,
    NoAuthError,
    NodeExistsError,
    NoNodeError,
    NotEmptyError,
    RolledBackError,
)
from kazoo.recipe.cache import TreeCache, TreeEvent
from kazoo.recipe.watchers import ChildrenWatch, DataWatch, PatientChildrenWatch
from kazoo.security import make_digest_acl

from tests.waiting import PATIENCE_S
from tests.zookeeper.server.conftest import SUPER, Connect

JUTE_MAXBUFFER = 0xFFFFF


def test_what_is_written_can_be_read(connect: Connect) -> None:
    client = connect()
    assert client.create("/kept/below", b"data", makepath=True) == "/kept/below"
    data, stat = client.get("/kept/below")
    assert (data, stat.version, stat.dataLength) == (b"data", 0, 4)
    assert client.set("/kept/below", b"new").version == 1
    assert client.get_children("/kept") == ["below"]
    client.delete("/kept", recursive=True)
    assert client.exists("/kept") is None


def test_errors_are_the_ones_that_clients_know(connect: Connect) -> None:
    client = connect()
    client.create("/errors/child", makepath=True)
    with pytest.raises(NodeExistsError):
        client.create("/errors")
    with pytest.raises(NoNodeError):
        client.get("/errors/none")
    with pytest.raises(BadVersionError):
        client.set("/errors", b"", version=7)
    with pytest.raises(NotEmptyError):
        client.delete("/errors")


def test_the_numbers_of_sequential_nodes_go_up(connect: Connect) -> None:
    client = connect()
    client.create("/line")
    made = [client.create("/line/n-", sequence=True, ephemeral=True) for _ in range(3)]
    assert made == ["/line/n-0000000000", "/line/n-0000000001", "/line/n-0000000002"]


def test_a_transaction_happens_as_a_whole(connect: Connect) -> None:
    client = connect()
    client.create("/whole")
    transaction = client.transaction()
    transaction.check("/whole", 0)
    transaction.create("/whole/a", b"1")
    transaction.set_data("/whole", b"2")
    transaction.delete("/whole/a")
    checked, created, changed, deleted = transaction.commit()
    assert (checked, created, changed.version, deleted) == (True, "/whole/a", 1, True)


def test_a_transaction_that_fails_leaves_nothing(connect: Connect) -> None:
    client = connect()
    client.create("/rolled")
    transaction = client.transaction()
    transaction.create("/rolled/a")
    transaction.delete("/nowhere")
    first, second = transaction.commit()
    assert (type(first), type(second)) == (RolledBackError, NoNodeError)
    assert client.get_children("/rolled") == []


def test_a_chroot_is_the_root_of_its_client(connect: Connect) -> None:
    connect().create("/below/here", makepath=True)
    client = connect("/below/here")
    client.create("/a")
    assert client.get_children("/") == ["a"]
    assert connect().exists("/below/here/a") is not None


def test_only_who_knows_the_password_may_read(connect: Connect) -> None:
    stranger, owner = connect(), connect(auth_data=[("digest", "ann:secret")])
    owner.create("/secret", b"x", acl=[make_digest_acl("ann", "secret", all=True)])
    with pytest.raises(NoAuthError):
        stranger.get("/secret")
    assert owner.get("/secret")[0] == b"x"
    stranger.add_auth("digest", "ann:secret")
    assert stranger.get("/secret")[0] == b"x"


def test_the_super_user_may_do_anything(connect: Connect) -> None:
    owner = connect(auth_data=[("digest", "ann:secret")])
    owner.create("/private", b"x", acl=[make_digest_acl("ann", "secret", all=True)])
    mighty = connect()
    mighty.add_auth("digest", ":".join(SUPER))
    assert mighty.get("/private")[0] == b"x"
    mighty.set_acls("/private", [make_digest_acl("bob", "word", all=True)])
    with pytest.raises(NoAuthError):
        owner.get("/private")


def test_nobody_can_prove_a_thing_by_a_scheme_that_is_not_known(connect: Connect) -> None:
    client = connect()
    with pytest.raises(AuthFailedError):
        client.add_auth("nothing", "knows")


def test_a_znode_may_be_nearly_as_large_as_a_frame(connect: Connect) -> None:
    client = connect()
    large = bytes(JUTE_MAXBUFFER - 200)
    client.create("/large", large)
    assert client.get("/large")[0] == large


def test_a_watch_on_data_hears_of_each_change(connect: Connect) -> None:
    client, other = connect(), connect()
    seen: Queue[bytes | None] = Queue()
    DataWatch(client, "/watched", lambda data, stat: seen.put(data))
    assert seen.get(timeout=PATIENCE_S) is None
    other.create("/watched", b"1")
    assert seen.get(timeout=PATIENCE_S) == b"1"
    other.set("/watched", b"2")
    assert seen.get(timeout=PATIENCE_S) == b"2"
    other.delete("/watched")
    assert seen.get(timeout=PATIENCE_S) is None


def test_a_watch_on_children_hears_of_each_change(connect: Connect) -> None:
    client, other = connect(), connect()
    client.create("/family")
    seen: Queue[list[str]] = Queue()
    ChildrenWatch(client, "/family", seen.put)
    assert seen.get(timeout=PATIENCE_S) == []
    other.create("/family/a")
    assert seen.get(timeout=PATIENCE_S) == ["a"]
    other.delete("/family/a")
    assert seen.get(timeout=PATIENCE_S) == []


def test_a_patient_watch_waits_until_children_are_settled(connect: Connect) -> None:
    client = connect()
    client.create("/slow")
    children, _ = (
        PatientChildrenWatch(client, "/slow", time_boundary=0.1).start().get(timeout=PATIENCE_S)
    )
    assert children == []


def test_a_cached_tree_follows_the_true_one(connect: Connect) -> None:
    client, other = connect(), connect()
    client.create("/cached/a", b"1", makepath=True)
    events: Queue[Any] = Queue()
    cache = TreeCache(client, "/cached")
    cache.listen(events.put)
    cache.start()
    wait_for(events, TreeEvent.INITIALIZED)
    other.set("/cached/a", b"2")
    wait_for(events, TreeEvent.NODE_UPDATED)
    assert cache.get_data("/cached/a").data == b"2"
    cache.close()


def wait_for(events: Queue[Any], kind: int) -> None:
    while events.get(timeout=PATIENCE_S).event_type != kind:
        pass
