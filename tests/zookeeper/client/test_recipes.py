"""A lock and an election, with sessions that end and connections that break."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.errors import ZooKeeperError
from odradek.zookeeper.client.events import Events
from odradek.zookeeper.client.patience import ensure_path
from odradek.zookeeper.client.place import Place, PlaceLost
from odradek.zookeeper.client.recipes import Election, Lock
from odradek.zookeeper.client.states import State
from tests.zookeeper.client.relay import Relay
from tests.zookeeper.client.theatre import new_client, play, play_in_chroot

PATH = "/locks/orders"


def lock_of(client: ZooKeeperClient) -> Lock:
    return Lock(client, PATH, random=Random())


async def until_in_line(client: ZooKeeperClient, count: int) -> None:
    """Wait until so many stand in line."""
    events = Events()
    await ensure_path(client, PATH)
    while len(await client.get_children(PATH, watch=events)) != count:
        await events.next()


def test_a_lock_goes_from_one_to_the_next_in_order(running_server: str) -> None:
    async def story(client: ZooKeeperClient) -> None:
        lock, order = lock_of(client), list[int]()

        async def take_turn(number: int) -> None:
            async with await lock.acquire():
                order.append(number)

        held = await lock.acquire()
        waiting = []
        for number in range(4):
            waiting.append(asyncio.create_task(take_turn(number)))
            await until_in_line(client, number + 2)
        assert order == []
        await held.release()
        await asyncio.gather(*waiting)
        assert order == [0, 1, 2, 3]
        assert await client.get_children(PATH) == []

    play(running_server, story)


def test_a_holder_is_known_by_a_number_that_grows(running_server: str) -> None:
    async def story(client: ZooKeeperClient) -> None:
        lock, numbers = lock_of(client), []
        for _ in range(2):
            async with await lock.acquire() as held:
                numbers.append(held.czxid)
        assert 0 < numbers[0] < numbers[1]

    play(running_server, story)


def test_who_gives_up_waiting_leaves_no_place_behind(running_server: str) -> None:
    async def story(client: ZooKeeperClient) -> None:
        lock = lock_of(client)
        first = await lock.acquire()
        second = asyncio.create_task(lock.acquire())
        third = asyncio.create_task(lock.acquire())
        await until_in_line(client, 3)
        second.cancel()
        await until_in_line(client, 2)
        await first.release()
        await (await third).release()

    play(running_server, story)


def test_a_create_whose_reply_was_lost_is_not_done_twice(running_server: str) -> None:
    async def story(connect_string: str) -> None:
        async with (
            Relay(connect_string) as relay,
            new_client(relay.connect_string) as client,
        ):
            await ensure_path(client, PATH)
            relay.is_reply_lost = True
            held = await lock_of(client).acquire()
            assert not relay.is_reply_lost
            assert len(await client.get_children(PATH)) == 1
            await held.release()
            assert await client.get_children(PATH) == []

    play_in_chroot(running_server, story)


def test_a_release_whose_reply_was_lost_is_a_release(running_server: str) -> None:
    async def story(connect_string: str) -> None:
        async with (
            Relay(connect_string) as relay,
            new_client(relay.connect_string) as client,
        ):
            held = await lock_of(client).acquire()
            relay.is_reply_lost = True
            await held.release()
            assert await client.get_children(PATH) == []
            assert not held.is_lost

    play_in_chroot(running_server, story)


def test_a_lock_outlives_a_broken_connection(running_server: str) -> None:
    async def story(connect_string: str) -> None:
        async with (
            Relay(connect_string) as relay,
            new_client(relay.connect_string) as client,
        ):
            held = await lock_of(client).acquire()
            relay.hang_up()
            await client.until(State.SUSPENDED)
            await client.until(State.CONNECTED)
            await client.sync()
            assert not held.is_lost
            await held.release()

    play_in_chroot(running_server, story)


def test_a_place_that_somebody_deletes_is_lost(running_server: str) -> None:
    async def story(client: ZooKeeperClient) -> None:
        held = await lock_of(client).acquire()
        await client.set_data(held.path, b"still there")
        await client.delete(held.path)
        await held.until_lost()
        with pytest.raises(PlaceLost):
            async with held:
                assert held.is_lost

    play(running_server, story)


def test_when_the_session_ends_the_lock_is_lost_and_the_next_gets_it(running_server: str) -> None:
    async def story(connect_string: str) -> None:
        async with new_client(connect_string) as first, new_client(connect_string) as second:
            held = await lock_of(first).acquire()
            next_turn = asyncio.create_task(lock_of(second).acquire())
            await until_in_line(second, 2)
            await first.close()
            await held.until_lost()
            await (await next_turn).release()

    play_in_chroot(running_server, story)


def test_who_waits_when_the_session_ends_hears_of_it(running_server: str) -> None:
    async def story(connect_string: str) -> None:
        async with new_client(connect_string) as first, new_client(connect_string) as second:
            held = await lock_of(first).acquire()
            waiting = asyncio.create_task(lock_of(second).acquire())
            await until_in_line(first, 2)
            await second.close()
            with pytest.raises(ZooKeeperError):
                await waiting
            await held.release()

    play_in_chroot(running_server, story)


def test_the_first_candidate_leads_and_then_the_next(running_server: str) -> None:
    async def story(connect_string: str) -> None:
        async with new_client(connect_string) as ann, new_client(connect_string) as bob:
            elections = [Election(client, PATH, random=Random()) for client in (ann, bob)]
            assert await elections[0].leader() is None
            leads: Place = await elections[0].lead(b"ann")
            stands = asyncio.create_task(elections[1].lead(b"bob"))
            await until_in_line(ann, 2)
            assert await elections[1].leader() == b"ann"
            await leads.release()
            await stands
            assert await elections[0].leader() == b"bob"

    play_in_chroot(running_server, story)
