"""All that a client can ask of a server, told by a real one."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Awaitable
from hashlib import sha1

import pytest

from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.creation import OWN, READ_BY_ALL, Created
from odradek.zookeeper.client.errors import (
    AuthFailed,
    BadArguments,
    BadVersion,
    InvalidAcl,
    MultiFailed,
    NoAuth,
    NoChildrenForEphemerals,
    NodeExists,
    NoNode,
    NotEmpty,
    NoWatcher,
    ZooKeeperError,
)
from odradek.zookeeper.client.events import Events
from odradek.zookeeper.client.states import State
from odradek.zookeeper.wire.codes import AddWatchMode, CreateMode, EventType, Perms, WatcherType
from odradek.zookeeper.wire.messages.data import ACL, ClientInfo, Id, Stat
from tests.zookeeper.client.relay import Relay
from tests.zookeeper.client.theatre import new_client, play, play_in_chroot


def test_a_znode_is_made_read_changed_and_deleted(running_server: str) -> None:
    async def story(client: ZooKeeperClient) -> None:
        assert await client.create("/a", b"one") == "/a"
        data, stat = await client.get_data("/a")
        assert (data, stat.version, stat.data_length) == (b"one", 0, 3)
        assert (await client.set_data("/a", b"two", 0)).version == 1
        assert await client.exists("/a") == (await client.get_data("/a"))[1]
        await client.delete("/a", 1)
        assert await client.exists("/a") is None

    play(running_server, story)


def test_a_refusal_has_a_name_and_a_path(running_server: str) -> None:
    async def story(client: ZooKeeperClient) -> None:
        await client.create("/a")
        await client.create("/a/b", mode=CreateMode.EPHEMERAL)
        refusals: list[tuple[type[ZooKeeperError], Awaitable[object]]] = [
            (NodeExists, client.create("/a")),
            (NoNode, client.create("/x/y")),
            (NoNode, client.get_data("/x")),
            (NotEmpty, client.delete("/a")),
            (BadVersion, client.set_data("/a", b"", 7)),
            (NoChildrenForEphemerals, client.create("/a/b/c")),
            (InvalidAcl, client.create("/c", acl=[])),
            (BadArguments, client.create("/a/.")),
        ]
        for kind, asked in refusals:
            with pytest.raises(kind) as caught:
                await asked
            assert caught.value.path is not None

    play(running_server, story)


def test_null_data_is_read_as_empty(running_server: str) -> None:
    async def story(client: ZooKeeperClient) -> None:
        await client.create("/a", None)
        assert (await client.get_data("/a"))[0] == b""

    play(running_server, story)


def test_every_mode_of_a_znode_can_be_made(running_server: str) -> None:
    async def story(client: ZooKeeperClient) -> None:
        _, stat = await client.create_with_stat("/e", mode=CreateMode.EPHEMERAL)
        assert stat.ephemeral_owner == client.session_id
        numbered = [
            await client.create("/n-", mode=CreateMode.PERSISTENT_SEQUENTIAL),
            await client.create("/n-", mode=CreateMode.EPHEMERAL_SEQUENTIAL),
        ]
        assert numbered == ["/n-0000000001", "/n-0000000002"]
        assert await client.create("/c", mode=CreateMode.CONTAINER) == "/c"
        ttl = await client.create("/t", mode=CreateMode.PERSISTENT_WITH_TTL, ttl_ms=60_000)
        assert ttl == "/t"
        numbered_ttl = await client.create_with_stat(
            "/t-", mode=CreateMode.PERSISTENT_SEQUENTIAL_WITH_TTL, ttl_ms=60_000
        )
        assert numbered_ttl.path == "/t-0000000005"

    play(running_server, story)


def test_a_chroot_is_a_root_like_any_other(running_server: str) -> None:
    async def story(client: ZooKeeperClient) -> None:
        events = Events()
        await client.get_children("/", watch=events)
        await client.create("/a", mode=CreateMode.EPHEMERAL)
        assert await events.next() == (EventType.CHILDREN_CHANGED, "/", client.last_zxid)
        assert await client.get_children("/") == ["a"]
        assert await client.get_ephemerals() == ["/a"]
        await client.set_data("/", b"root")
        assert (await client.get_data("/"))[0] == b"root"
        await client.sync()

    play(running_server, story)


def test_children_are_listed_and_counted(running_server: str) -> None:
    async def story(client: ZooKeeperClient) -> None:
        for path in ("/a", "/a/b", "/a/c", "/a/c/d"):
            await client.create(path)
        assert sorted(await client.get_children("/a")) == ["b", "c"]
        children, stat = await client.get_children_with_stat("/a")
        assert (sorted(children), stat.num_children) == (["b", "c"], 2)
        assert await client.get_all_children_number("/a") == 3

    play(running_server, story)


def test_who_authenticates_owns_what_he_makes(running_server: str) -> None:
    async def story(connect_string: str) -> None:
        async with new_client(connect_string) as owner, new_client(connect_string) as other:
            await owner.add_auth("digest", b"ann:secret")
            digest = b64encode(sha1(b"ann:secret").digest()).decode()
            assert ClientInfo("digest", "ann") in await owner.who_am_i()
            await owner.create("/a", b"mine", acl=OWN)
            with pytest.raises(NoAuth):
                await other.get_data("/a")
            acl, stat = await owner.get_acl("/a")
            assert acl == [ACL(Perms.ALL, Id("digest", f"ann:{digest}"))]
            assert (await owner.set_acl("/a", READ_BY_ALL, stat.aversion)).aversion == 1
            assert (await other.get_data("/a"))[0] == b"mine"

    play_in_chroot(running_server, story)


def test_a_scheme_that_the_server_does_not_know_ends_the_session(running_server: str) -> None:
    async def story(client: ZooKeeperClient) -> None:
        with pytest.raises(AuthFailed):
            await client.add_auth("nonsense", b"")
        await client.until(State.AUTH_FAILED)

    play(running_server, story)


def test_a_transaction_happens_as_a_whole(running_server: str) -> None:
    async def story(client: ZooKeeperClient) -> None:
        await client.create("/a")
        transaction = client.transaction()
        transaction.check("/a", 0)
        transaction.create("/a/n-", b"x", mode=CreateMode.PERSISTENT_SEQUENTIAL)
        transaction.create("/c", mode=CreateMode.CONTAINER)
        transaction.set_data("/a", b"changed")
        transaction.delete("/c")
        checked, created, container, changed, deleted = await transaction.commit()
        assert checked is deleted is None
        assert isinstance(created, Created)
        assert isinstance(container, Created)
        assert (created.path, created.stat.data_length) == ("/a/n-0000000000", 1)
        assert container.path == "/c"
        assert isinstance(changed, Stat)
        assert changed.version == 1

    play(running_server, story)


def test_of_a_refused_transaction_nothing_happens(running_server: str) -> None:
    async def story(client: ZooKeeperClient) -> None:
        transaction = client.transaction()
        transaction.create("/a")
        transaction.delete("/missing")
        transaction.create("/b")
        with pytest.raises(MultiFailed) as caught:
            await transaction.commit()
        fine, culprit, _ = caught.value.errors
        assert fine is None
        assert isinstance(culprit, NoNode)
        assert caught.value.path == "/missing"
        assert await client.get_children("/") == []

    play(running_server, story)


def test_several_reads_go_in_one_request(running_server: str) -> None:
    async def story(client: ZooKeeperClient) -> None:
        await client.create("/a", b"one")
        await client.create("/a/b")
        reads = client.multi_read()
        reads.get_data("/a")
        reads.get_children("/a")
        reads.get_data("/missing")
        data, children, missing = await reads.commit()
        assert data == (b"one", await client.exists("/a"))
        assert children == ["b"]
        assert isinstance(missing, NoNode)

    play(running_server, story)


def test_a_watch_tells_once_what_happened(running_server: str) -> None:
    async def story(client: ZooKeeperClient) -> None:
        events = Events()
        assert await client.exists("/a", watch=events) is None
        await client.create("/a")
        await client.get_data("/a", watch=events)
        await client.get_children("/a", watch=events)
        await client.create("/a/b")
        await client.set_data("/a", b"1")
        await client.set_data("/a", b"2")
        seen = [await events.next() for _ in range(3)]
        assert [(event.type, event.path) for event in seen] == [
            (EventType.CREATED, "/a"),
            (EventType.CHILDREN_CHANGED, "/a"),
            (EventType.DATA_CHANGED, "/a"),
        ]
        await client.sync()
        assert len(events) == 0

    play(running_server, story)


def test_a_persistent_watch_stays_until_it_is_removed(running_server: str) -> None:
    async def story(client: ZooKeeperClient) -> None:
        events = Events()
        await client.create("/a")
        await client.add_watch("/a", events)
        assert await client.check_watches("/a")
        for data in (b"1", b"2"):
            await client.set_data("/a", data)
            assert (await events.next()).type is EventType.DATA_CHANGED
        await client.remove_watches("/a", WatcherType.ANY)
        assert (await events.next()).type is EventType.PERSISTENT_WATCH_REMOVED
        assert not await client.check_watches("/a")
        with pytest.raises(NoWatcher):
            await client.remove_watches("/a")

    play(running_server, story)


def test_a_recursive_watch_tells_of_all_below(running_server: str) -> None:
    async def story(client: ZooKeeperClient) -> None:
        events = Events()
        await client.add_watch("/", events, AddWatchMode.PERSISTENT_RECURSIVE)
        await asyncio.gather(client.create("/a"), client.create("/a/b"), client.delete("/a/b"))
        seen = [await events.next() for _ in range(3)]
        assert [(event.type, event.path) for event in seen] == [
            (EventType.CREATED, "/a"),
            (EventType.CREATED, "/a/b"),
            (EventType.DELETED, "/a/b"),
        ]

    play(running_server, story)


def test_the_members_of_the_ensemble_are_there_for_every_chroot(running_server: str) -> None:
    async def story(client: ZooKeeperClient) -> None:
        _, stat = await client.get_config(watch=Events())
        assert stat.num_children == 0

    play(running_server, story)


def test_a_change_of_the_members_is_refused_by_name(running_server: str) -> None:
    async def story(client: ZooKeeperClient) -> None:
        with pytest.raises(ZooKeeperError):
            await client.reconfig(leaving="3")

    play(running_server, story)


def test_thousands_of_requests_may_be_in_flight(running_server: str) -> None:
    async def story(client: ZooKeeperClient) -> None:
        calls = [client.create("/n", mode=CreateMode.PERSISTENT_SEQUENTIAL) for _ in range(3000)]
        assert await asyncio.gather(*calls) == [f"/n{number:010d}" for number in range(3000)]

    play(running_server, story)


def test_data_near_the_limit_of_a_packet_goes_both_ways(running_server: str) -> None:
    async def story(client: ZooKeeperClient) -> None:
        data = bytes(range(256)) * 4000
        await client.create("/a", data)
        assert (await client.get_data("/a"))[0] == data

    play(running_server, story)


def test_ephemerals_go_with_the_session(running_server: str) -> None:
    async def story(client: ZooKeeperClient) -> None:
        events = Events()
        async with new_client(f"{running_server}{client.chroot}") as other:
            await other.create("/e", mode=CreateMode.EPHEMERAL)
            assert await client.exists("/e", watch=events) is not None
        assert (await events.next()).type is EventType.DELETED

    play(running_server, story)


def test_a_session_survives_its_connection_and_hears_what_it_missed(running_server: str) -> None:
    async def story(connect_string: str) -> None:
        async with (
            Relay(connect_string) as relay,
            new_client(connect_string) as other,
            new_client(relay.connect_string) as client,
        ):
            events = Events()
            await client.create("/a", mode=CreateMode.EPHEMERAL)
            await client.get_data("/a", watch=events)
            session_id = client.session_id
            relay.hang_up()
            await client.until(State.SUSPENDED)
            await other.set_data("/a", b"changed")
            await client.until(State.CONNECTED)
            assert (await events.next()).type is EventType.DATA_CHANGED
            data, stat = await client.get_data("/a")
            assert (data, stat.ephemeral_owner) == (b"changed", session_id)
            assert client.session_id == session_id

    play_in_chroot(running_server, story)
