"""The election port: one connection a pair, the newest word, and no ear for nonsense."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress

import pytest

from odradek.runtime.logs import NodeLog
from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from odradek.zookeeper.server.votes import Votes
from odradek.zookeeper.settings.members import Address
from odradek.zookeeper.wire.codes import ServerState
from odradek.zookeeper.wire.election import Hello, Notification, encode_frame

PORT = 3888


def vote(round_: int) -> Notification:
    return Notification(ServerState.LOOKING, 1, 0, round_, 0)


class Voter:
    """A server that only votes."""

    def __init__(self, world: World, id_: int) -> None:
        self.heard: list[tuple[int, int]] = []  # From whom, and of which round.
        self.gone: list[int] = []
        self.votes: Votes | None = None
        self._id = id_
        self.host = world.host(f"v{id_}")

    async def run(self, environment: Environment) -> None:
        self.votes = Votes(
            self._id,
            [Address(f"v{self._id}", PORT)],
            lambda id_: [Address(f"v{id_}", PORT)] if id_ in (1, 2) else (),
            lambda id_, it: self.heard.append((id_, it.election_epoch)),
            self.gone.append,
            5.0,
            NodeLog("voter"),
        )
        await self.votes.open([environment.name], PORT)
        await asyncio.Event().wait()

    def say(self, id_: int, round_: int) -> None:
        votes, process = self.votes, self.host.process
        assert votes is not None
        assert process is not None
        process.loop.call_soon(votes.say, id_, vote(round_))


@pytest.fixture
def world() -> Iterator[World]:
    with World(seed=1) as it:
        yield it


def start(world: World, *ids: int) -> list[Voter]:
    voters = [Voter(world, id_) for id_ in ids]
    for voter in voters:
        voter.host.start(voter.run)
    world.run_until(lambda: all(voter.votes for voter in voters))
    world.run_for(0.1)
    return voters


def test_either_of_two_can_begin_and_both_are_heard(world: World) -> None:
    one, two = start(world, 1, 2)
    one.say(2, 11)
    world.run_until(lambda: two.heard)
    two.say(1, 12)
    world.run_until(lambda: one.heard)
    assert (one.heard, two.heard) == ([(2, 12)], [(1, 11)])


def test_who_cannot_be_reached_gets_only_the_newest_when_it_can(world: World) -> None:
    (one,) = start(world, 1)
    for round_ in range(5):
        one.say(2, round_)
        world.run_for(0.5)
    (two,) = start(world, 2)
    one.say(2, 5)
    world.run_until(lambda: two.heard)
    world.run_for(1)
    assert two.heard == [(1, 5)]


def test_a_server_whose_process_is_gone_is_told_of_and_one_that_is_cut_off_is_not(
    world: World,
) -> None:
    one, two = start(world, 1, 2)
    two.say(1, 1)
    world.run_until(lambda: one.heard)
    two.host.kill()
    world.run_for(0.1)
    one.say(2, 2)
    world.run_until(lambda: one.gone)
    assert one.gone == [2]
    two.host.start(two.run)
    world.run_for(0.1)
    world.network.cut("v1", "v2")
    one.say(2, 3)
    world.run_for(20)
    assert one.gone == [2]


def test_what_was_said_to_a_dying_server_does_not_hide_that_it_is_gone(world: World) -> None:
    one, two = start(world, 1, 2)
    two.say(1, 1)
    world.run_until(lambda: one.heard)
    one.say(2, 2)
    two.host.kill()
    world.run_until(lambda: one.gone)
    assert one.gone == [2]


def test_the_last_word_is_repeated_on_a_new_connection(world: World) -> None:
    one, two = start(world, 1, 2)
    two.say(1, 7)
    world.run_until(lambda: one.heard)
    two.say(1, 8)
    world.run_until(lambda: len(one.heard) == 2)
    world.network.reset("v1", "v2")
    world.run_for(1)
    one.say(2, 9)
    world.run_until(lambda: two.heard and (2, 8) in one.heard[2:])
    assert two.heard[-1] == (1, 9)


def test_a_server_that_nobody_named_is_answered_where_it_says_it_listens(world: World) -> None:
    (one,) = start(world, 1)
    heard: list[bytes] = []

    async def stranger(environment: Environment) -> None:
        async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            heard.append(await reader.read(1000))
            writer.close()

        server = await asyncio.start_server(take, "stranger", PORT)
        reader, writer = await asyncio.open_connection("v1", PORT)
        writer.write(Hello(0, ("stranger:3888",)).encode() + encode_frame(vote(1)))
        assert await reader.read() == b""  # Ours is the bigger id, so we dial back.
        writer.close()
        await asyncio.sleep(5)
        server.close()

    process = world.host("stranger").start(stranger)
    world.run_for(1)
    one.say(0, 3)
    world.run_to_end(process)
    assert any(it.startswith(Hello(1, ("v1:3888",)).encode()) for it in heard)


@pytest.mark.parametrize(
    "nonsense",
    [
        b"",
        b"GET / HTTP/1.1\r\n\r\n",
        Hello(5, ("x:1",)).encode() + b"\x7f\xff\xff\xff",
        Hello(5, ("x:1",)).encode() + b"\0\0\0\x28" + b"\xff" * 40,
        Hello(1, ("x:1",)).encode(),
    ],
)
def test_nonsense_is_heard_by_nobody_and_closes_the_connection(
    world: World, nonsense: bytes
) -> None:
    (one,) = start(world, 1)

    async def stranger(environment: Environment) -> None:
        reader, writer = await asyncio.open_connection("v1", PORT)
        writer.write(nonsense)
        with suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()

    world.run_to_end(world.host("stranger").start(stranger), limit_s=20)
    assert one.heard == []
