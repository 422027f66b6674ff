"""Stories of whole ensembles, each with the checkers watching."""

from __future__ import annotations

import pytest

from odradek.zookeeper.wire.codes import Op, ServerState
from odradek.zookeeper.wire.quorum import ForwardedRequest
from odradek.zookeeper.zab import effects as fx
from tests.zookeeper.zab.checkers import Checkers
from tests.zookeeper.zab.ensemble import SESSION, Ensemble, Server


def start(voters: int = 3, observers: int = 0, window: int = 5, seed: int = 1) -> Ensemble:
    ensemble = Ensemble(seed, Checkers(), voters, observers, window=window)
    ensemble.boot()
    ensemble.run_until(ensemble.all_serve)
    return ensemble


def leader_of(ensemble: Ensemble) -> Server:
    leader = ensemble.leader
    assert leader is not None
    return leader


def write(ensemble: Ensemble, server: Server, count: int = 1) -> None:
    """Write, and wait until the client has its answers."""
    before = len(ensemble.checkers.acked)
    for number in range(count):
        server.write(b"%d at %d, %d" % (number, server.id, ensemble.now_ms))
    ensemble.run_until(lambda: len(ensemble.checkers.acked) == before + count)


def settle(ensemble: Ensemble) -> None:
    def is_even() -> bool:
        trees = [server.tree for server in ensemble.servers.values()]
        return ensemble.all_serve() and all(tree == ensemble.checkers.delivered for tree in trees)

    ensemble.run_until(is_even)
    ensemble.checkers.settled()


def ways(ensemble: Ensemble, server: Server) -> list[str]:
    """How this server was brought up to date, each time."""
    lines = [it.line for id_, it in ensemble.trace if id_ == server.id and isinstance(it, fx.Tell)]
    return [line.split()[4] for line in lines if line.startswith("follows leader")]


@pytest.mark.parametrize("voters", [1, 2, 3, 4, 5, 7])
def test_a_cold_ensemble_elects_the_biggest_id_and_serves(voters: int) -> None:
    ensemble = start(voters)
    assert leader_of(ensemble).id == voters
    for server in ensemble.servers.values():
        write(ensemble, server, 3)
    settle(ensemble)
    assert len(ensemble.checkers.delivered) == 3 * voters


def test_when_the_leader_dies_the_others_go_on_with_all_that_was_written() -> None:
    ensemble = start()
    first = leader_of(ensemble)
    write(ensemble, first, 10)
    first.crash()
    ensemble.run_until(lambda: ensemble.leader is not None and ensemble.leader is not first)
    second = leader_of(ensemble)
    write(ensemble, second, 5)
    first.boot()
    settle(ensemble)
    assert sorted(ensemble.checkers.leaders) == [1, 2]
    assert first.serving is ServerState.FOLLOWING


@pytest.mark.parametrize(("missed", "way"), [(3, "DIFF"), (30, "SNAP")])
def test_a_follower_that_was_away_gets_what_it_missed(missed: int, way: str) -> None:
    ensemble = start(window=5)
    ensemble.reads_log = False
    write(ensemble, leader_of(ensemble), 2)
    ensemble.servers[1].crash()
    write(ensemble, leader_of(ensemble), missed)
    ensemble.servers[1].boot()
    settle(ensemble)
    assert ways(ensemble, ensemble.servers[1])[-1] == way


def test_the_log_on_disk_spares_a_snapshot() -> None:
    ensemble = start(window=5)
    write(ensemble, leader_of(ensemble), 2)
    ensemble.run(100)
    ensemble.servers[1].crash()
    write(ensemble, leader_of(ensemble), 30)
    ensemble.servers[1].boot()
    settle(ensemble)
    assert ways(ensemble, ensemble.servers[1])[-1] == "DIFF"


def test_what_only_a_dead_leader_had_is_truncated_when_it_comes_back() -> None:
    ensemble = start()
    old = leader_of(ensemble)
    write(ensemble, old, 4)
    ensemble.isolate(old.id)
    old.write(b"nobody hears this")
    ensemble.run(60)
    old.crash()
    ensemble.run_until(lambda: ensemble.leader is not None)
    ensemble.heal()
    old.boot()
    settle(ensemble)
    assert ways(ensemble, old)[-1] == "TRUNC"
    assert b"nobody hears this" not in [entry.data for entry in old.tree]


def test_a_minority_that_is_cut_off_does_not_disturb_the_others() -> None:
    ensemble = start(5)
    ensemble.isolate(1)
    ensemble.isolate(2)
    for _ in range(10):
        write(ensemble, leader_of(ensemble))
        ensemble.run(300)
    assert list(ensemble.checkers.leaders) == [1]
    ensemble.heal()
    settle(ensemble)


def test_a_leader_without_a_quorum_steps_down_and_commits_nothing() -> None:
    ensemble = start(3)
    old = leader_of(ensemble)
    write(ensemble, old, 3)
    ensemble.isolate(old.id)
    old.write(b"too late")
    ensemble.run_until(lambda: old.serving is None)
    assert b"too late" not in [entry.data for entry in ensemble.checkers.delivered]
    ensemble.run_until(lambda: ensemble.leader is not None)
    write(ensemble, leader_of(ensemble), 3)
    ensemble.heal()
    settle(ensemble)


def test_a_leader_that_slept_finds_another_in_its_place() -> None:
    ensemble = start(3)
    old = leader_of(ensemble)
    old.paused_until_ms = ensemble.now_ms + 4000
    others = [it for it in ensemble.servers.values() if it is not old]
    ensemble.run_until(lambda: any(it.serving is ServerState.LEADING for it in others))
    write(ensemble, next(it for it in others if it.serving is ServerState.LEADING), 3)
    settle(ensemble)
    assert old.serving is ServerState.FOLLOWING


def test_a_server_that_hears_and_is_not_heard_does_not_stop_the_others() -> None:
    ensemble = start(3)
    for other in (2, 3):
        ensemble.cut(1, other)
    ensemble.run(2000)
    write(ensemble, leader_of(ensemble), 5)
    ensemble.heal()
    settle(ensemble)
    assert list(ensemble.checkers.leaders) == [1]


def test_observers_serve_and_forward_but_do_not_count() -> None:
    ensemble = start(3, observers=2)
    write(ensemble, ensemble.servers[4], 3)
    settle(ensemble)
    for observer in (4, 5):
        assert ensemble.servers[observer].serving is ServerState.OBSERVING
    for voter in (1, 2):
        ensemble.servers[voter].crash()
    ensemble.run_until(lambda: ensemble.leader is None)
    ensemble.run(3000)
    assert ensemble.leader is None  # Three of five are up, but only one of three voters.


def test_repeated_elections_lose_nothing() -> None:
    ensemble = start(3)
    for _ in range(8):
        leader = leader_of(ensemble)
        write(ensemble, leader, 3)
        leader.crash()
        ensemble.run_until(lambda: ensemble.leader is not None)
        leader.boot()
        ensemble.run_until(ensemble.all_serve)
    settle(ensemble)
    assert len(ensemble.checkers.leaders) == 9


def test_the_whole_ensemble_loses_power_and_comes_back() -> None:
    ensemble = start(5)
    write(ensemble, leader_of(ensemble), 20)
    for server in ensemble.servers.values():
        server.crash()
    ensemble.boot()
    settle(ensemble)
    assert len(ensemble.checkers.delivered) == 20


def test_a_sync_comes_back_behind_the_writes_before_it() -> None:
    ensemble = start(3)
    follower = ensemble.servers[1]
    follower.write(b"before")
    follower.peer.forward(ForwardedRequest(SESSION, 2, Op.SYNC, b""), ())
    follower.act()
    ensemble.run_until(lambda: (1, fx.Synced()) in ensemble.seen)
    assert follower.tree[-1].data == b"before"


def test_one_seed_is_one_story() -> None:
    def story() -> list[tuple[int, fx.Effect]]:
        ensemble = start(5, observers=1, seed=9)
        write(ensemble, ensemble.servers[2], 5)
        leader_of(ensemble).crash()
        ensemble.run(3000)
        return list(ensemble.trace)

    assert story() == story()
