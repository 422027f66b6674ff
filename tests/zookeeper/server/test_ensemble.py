"""Stories of an ensemble of whole servers, in virtual time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from odradek.simulation.faults.network import Partition
from odradek.simulation.world import World
from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.wire.codes import ServerState
from tests.zookeeper.server.ensemble import Ensemble, read_names, write


@pytest.mark.parametrize("voters", [3, 5])
def test_a_cold_ensemble_elects_the_biggest_id_and_serves_on_all(voters: int) -> None:
    with World(seed=1) as world:
        ensemble = Ensemble(world, voters)
        ensemble.settle()
        assert ensemble.leader == voters
        for id_ in ensemble.ids:
            ensemble.do(write(3, f"/{id_}-"), servers=f"zk{id_}:2181")
        ensemble.settle()
        names = ensemble.do(read_names(), servers="zk1:2181")
        assert names == sorted(f"{id_}-{n}" for id_ in ensemble.ids for n in range(3))


@pytest.fixture
def ensemble() -> Iterator[Ensemble]:
    """Three servers that serve."""
    with World(seed=2) as world:
        it = Ensemble(world)
        it.settle()
        yield it


def names(ensemble: Ensemble) -> object:
    return ensemble.do(read_names())


def ways(caplog: pytest.LogCaptureFixture, id_: int) -> list[str]:
    """How this server was brought up to date, each time."""
    lines = [it.getMessage() for it in caplog.records]
    prefix = f"brings server {id_} up to date by "
    return [line.removeprefix(prefix).split()[0] for line in lines if line.startswith(prefix)]


def test_when_the_leader_is_killed_the_others_go_on_and_it_comes_back_as_a_follower(
    ensemble: Ensemble,
) -> None:
    ensemble.do(write(10))
    first = ensemble.leader
    ensemble.host(first).kill()
    ensemble.until_another_leads(first)
    ensemble.do(write(5, "/later-"))
    ensemble.restart(first)
    ensemble.settle()
    assert ensemble.leader != first
    assert len(names(ensemble)) == 15  # type: ignore[arg-type]


def test_a_follower_that_was_away_gets_what_it_missed_by_diff(
    ensemble: Ensemble, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    ensemble.do(write(5))
    ensemble.host(1).kill()
    ensemble.do(write(30, "/later-"))
    ensemble.restart(1)
    ensemble.settle()
    assert ways(caplog, 1) == ["DIFF"]


def test_a_follower_that_is_far_behind_gets_a_snapshot(
    ensemble: Ensemble, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    ensemble.do(write(5))
    ensemble.host(1).kill()
    ensemble.do(write(700, "/later-"))
    ensemble.restart(1)
    ensemble.settle()
    assert ways(caplog, 1) == ["SNAP"]
    ensemble.host(1).power_off()
    ensemble.restart(1)
    ensemble.settle()
    assert len(names(ensemble)) == 705  # type: ignore[arg-type]


def test_a_snapshot_is_sent_while_writes_go_on(
    ensemble: Ensemble, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    ensemble.host(1).kill()
    ensemble.do(write(2000))
    writing = ensemble.run("busy", write(1000, "/more-"))
    ensemble.restart(1)
    ensemble.world.run_to_end(writing)
    ensemble.settle()
    assert ways(caplog, 1) == ["SNAP"]
    assert len(names(ensemble)) == 3000  # type: ignore[arg-type]
    assert "differs" not in caplog.text


def test_what_only_a_dead_leader_had_is_truncated_when_it_comes_back(
    ensemble: Ensemble, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    ensemble.do(write(5))
    old, world = ensemble.leader, ensemble.world
    others = [id_ for id_ in ensemble.ids if id_ != old]
    history = ensemble.nodes[old].peer.history
    client = ensemble.run("lonely", write(3, "/lost-"), servers=f"zk{old}:2181")
    for other in others:
        world.network.cut(f"zk{old}", f"zk{other}")
        world.network.cut(f"zk{other}", f"zk{old}")
    world.run_until(lambda: history.last_zxid > history.applied_zxid)
    world.run_for(0.2)
    ensemble.host(old).kill()
    world.host("lonely").kill()
    assert client.is_dead
    world.run_until(ensemble.leaders)
    world.network.heal_all()
    ensemble.restart(old)
    ensemble.settle()
    assert ways(caplog, old) == ["TRUNC"]
    assert len(names(ensemble)) == 5  # type: ignore[arg-type]


def test_a_minority_that_is_cut_off_serves_nobody_and_disturbs_nobody(ensemble: Ensemble) -> None:
    world = ensemble.world
    leader = ensemble.leader
    cut = Partition(("zk1",))
    cut.begin(world)
    world.run_until(lambda: not ensemble.is_serving(1))
    ensemble.do(write(5), servers="zk2:2181,zk3:2181")
    world.run_for(20)
    cut.end(world)
    ensemble.settle()
    assert ensemble.leader == leader
    assert len(names(ensemble)) == 5  # type: ignore[arg-type]


def test_a_leader_without_a_quorum_steps_down_and_another_leads(ensemble: Ensemble) -> None:
    world, old = ensemble.world, ensemble.leader
    cut = Partition((f"zk{old}",))
    cut.begin(world)
    world.run_until(lambda: not ensemble.is_serving(old))
    world.run_until(ensemble.leaders)
    ensemble.do(write(5), servers="zk1:2181,zk2:2181")
    cut.end(world)
    ensemble.settle()
    assert ensemble.leader != old


def test_when_the_majority_is_gone_nobody_serves_until_it_is_back(ensemble: Ensemble) -> None:
    ensemble.do(write(5))
    for id_ in (2, 3):
        ensemble.host(id_).power_off()
    ensemble.world.run_until(lambda: not any(map(ensemble.is_serving, ensemble.ids)))
    ensemble.world.run_for(30)
    assert not any(map(ensemble.is_serving, ensemble.ids))
    for id_ in (2, 3):
        ensemble.restart(id_)
    ensemble.settle()
    assert len(names(ensemble)) == 5  # type: ignore[arg-type]


def test_a_leader_that_slept_past_its_limits_finds_another_in_its_place(
    ensemble: Ensemble,
) -> None:
    world, old = ensemble.world, ensemble.leader
    ensemble.host(old).pause()
    world.run_until(lambda: any(id_ != old for id_ in ensemble.leaders()))
    ensemble.do(write(5), servers="zk1:2181,zk2:2181")
    ensemble.host(old).resume()
    world.run_until(lambda: old not in ensemble.leaders())
    ensemble.settle()
    assert ensemble.leader != old
    assert len(names(ensemble)) == 5  # type: ignore[arg-type]


def test_repeated_elections_lose_nothing(ensemble: Ensemble) -> None:
    for round_ in range(6):
        ensemble.do(write(5, f"/{round_}-"))
        old = ensemble.leader
        ensemble.host(old).power_off()
        ensemble.until_another_leads(old)
        ensemble.restart(old)
        ensemble.settle()
    assert len(names(ensemble)) == 30  # type: ignore[arg-type]


def test_the_whole_ensemble_loses_power_and_comes_back(ensemble: Ensemble) -> None:
    ensemble.do(write(20))
    for id_ in ensemble.ids:
        ensemble.host(id_).power_off()
    for id_ in ensemble.ids:
        ensemble.restart(id_)
    ensemble.settle()
    assert len(names(ensemble)) == 20  # type: ignore[arg-type]


def test_observers_serve_and_hand_on_writes_but_have_no_say() -> None:
    with World(seed=3) as world:
        ensemble = Ensemble(world, voters=3, observers=2)
        ensemble.settle()
        ensemble.do(write(5), servers="zk4:2181")
        ensemble.settle()
        for id_ in (4, 5):
            assert ensemble.nodes[id_].replica.state is ServerState.OBSERVING
        for id_ in (1, 2):
            ensemble.host(id_).kill()
        world.run_until(lambda: not any(map(ensemble.is_serving, ensemble.ids)))
        world.run_for(20)
        assert not any(map(ensemble.is_serving, ensemble.ids))


def test_the_log_on_disk_spares_a_snapshot_that_would_be_larger(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def write_much(client: ZooKeeperClient) -> None:
        await client.create("/large", bytes(900_000))

    caplog.set_level("INFO")
    with World(seed=11) as world:
        ensemble = Ensemble(world, more="snapCount=20")
        ensemble.settle()
        ensemble.do(write_much)
        ensemble.do(write(100))
        ensemble.settle()
        ensemble.host(1).kill()
        ensemble.do(write(700, "/later-"))
        ensemble.restart(1)
        ensemble.settle()
    assert ways(caplog, 1)[-1] == "DIFF"
    assert "DIFF and 70" in caplog.text
