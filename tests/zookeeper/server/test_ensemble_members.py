"""Members that come, go and change their role while the ensemble serves."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress

import pytest

from odradek.simulation.world import World
from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.errors import (
    BadArguments,
    BadVersion,
    ConnectionLoss,
    NewConfigNoQuorum,
    NoAuth,
    ReconfigDisabled,
    ZooKeeperError,
)
from odradek.zookeeper.wire.codes import ServerState
from tests.zookeeper.server.ensemble import Ensemble, Story, read_names, write

FOURTH = "server.4=zk4:2888:3888:{};2181"


@pytest.fixture
def ensemble() -> Iterator[Ensemble]:
    with World(seed=5) as world:
        it = Ensemble(world, more="reconfigEnabled=true\nskipACL=yes")
        it.settle()
        yield it


def reconfigure(**change: str) -> Story:
    async def story(client: ZooKeeperClient) -> object:
        config, _ = await client.reconfig(**change)  # type: ignore[arg-type]
        return config.decode()

    return story


def voters(ensemble: Ensemble, id_: int) -> set[int]:
    return set(ensemble.nodes[id_].member.membership.voters)


def add_fourth(ensemble: Ensemble, role: str = "participant") -> object:
    ensemble.start(4, FOURTH.format(role))
    ensemble.ids = range(1, 5)
    ensemble.world.run_until(lambda: ensemble.is_serving(4), limit_s=60)
    return ensemble.do(reconfigure(joining=FOURTH.format(role)))


def test_a_server_that_joins_votes_and_is_known_after_a_restart(ensemble: Ensemble) -> None:
    ensemble.do(write(5))
    config = add_fourth(ensemble)
    assert "server.4=zk4:2888:3888:participant;0.0.0.0:2181" in str(config)
    ensemble.settle()
    for id_ in ensemble.ids:
        assert voters(ensemble, id_) == {1, 2, 3, 4}
    for id_ in ensemble.ids:
        ensemble.host(id_).power_off()
    for id_ in ensemble.ids:
        ensemble.restart(id_)
    ensemble.settle()
    for id_ in ensemble.ids:
        assert voters(ensemble, id_) == {1, 2, 3, 4}
    ensemble.host(1).kill()
    ensemble.host(2).kill()
    ensemble.world.run_until(lambda: not ensemble.leaders())  # Two of four are no quorum.


def test_a_server_that_leaves_is_not_needed_any_more_even_if_it_led(ensemble: Ensemble) -> None:
    old = ensemble.leader
    rest = {id_ for id_ in ensemble.ids if id_ != old}

    async def leave(client: ZooKeeperClient) -> None:
        with suppress(ConnectionLoss):  # Its server has to find the new leader first.
            await client.reconfig(leaving=str(old))

    ensemble.do(leave, servers=f"zk{min(rest)}:2181")
    ensemble.until_another_leads(old)
    ensemble.host(old).power_off()
    ensemble.world.run_until(lambda: all(map(ensemble.is_serving, rest)))
    assert all(voters(ensemble, id_) == rest for id_ in rest)
    ensemble.do(write(5), servers=",".join(f"zk{id_}:2181" for id_ in rest))


def test_an_observer_becomes_a_voter_and_a_voter_an_observer(ensemble: Ensemble) -> None:
    add_fourth(ensemble, "observer")
    ensemble.settle()
    assert ensemble.nodes[4].replica.state is ServerState.OBSERVING
    ensemble.do(reconfigure(joining=FOURTH.format("participant")))
    ensemble.settle()
    assert ensemble.nodes[4].replica.state is not ServerState.OBSERVING
    ensemble.do(reconfigure(joining=FOURTH.format("observer")))
    ensemble.settle()
    assert ensemble.nodes[4].replica.state is ServerState.OBSERVING
    assert voters(ensemble, 4) == {1, 2, 3}


def test_members_change_under_load_and_no_acknowledged_write_is_lost(ensemble: Ensemble) -> None:
    acknowledged: set[str] = set()
    is_over = False

    async def load(client: ZooKeeperClient) -> None:
        number = 0
        while not is_over:
            number += 1
            try:
                acknowledged.add((await client.create(f"/{number}"))[1:])
            except ZooKeeperError:
                await asyncio.sleep(0.1)

    process = ensemble.run("load", load)
    add_fourth(ensemble)
    ensemble.do(reconfigure(leaving="1"))
    ensemble.do(reconfigure(joining="server.1=zk1:2888:3888:participant;2181"))
    is_over = True
    ensemble.world.run_to_end(process)
    ensemble.settle()
    names = ensemble.do(read_names())
    assert isinstance(names, list)
    assert acknowledged <= set(names)
    assert len(acknowledged) > 20


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"joining": "server.4=nonsense"}, BadArguments),
        ({"joining": "server.4=zk1:2888:3888;2181"}, BadArguments),
        ({"leaving": "1,2"}, BadArguments),
        ({"leaving": "1", "from_version": 77}, BadVersion),
        ({"members": "server.8=zk8:1:2;3,server.9=zk9:1:2;3"}, NewConfigNoQuorum),
    ],
)
def test_a_change_that_cannot_be_is_refused(
    ensemble: Ensemble, change: dict[str, str], error: type[ZooKeeperError]
) -> None:
    with pytest.raises(Exception, match=error.__name__):
        ensemble.do(reconfigure(**change))


@pytest.mark.parametrize(
    ("more", "error"), [("", ReconfigDisabled), ("reconfigEnabled=true", NoAuth)]
)
def test_not_everybody_may_change_members(more: str, error: type[ZooKeeperError]) -> None:
    with World(seed=6) as world:
        ensemble = Ensemble(world, more=more)
        ensemble.settle()
        with pytest.raises(Exception, match=error.__name__):
            ensemble.do(reconfigure(leaving="1"))
