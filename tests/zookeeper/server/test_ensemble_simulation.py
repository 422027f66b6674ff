"""Whole servers under faults: whatever happens, clients were told the truth.

`SEEDS` says how many worlds are tried, `FIRST_SEED` with which one it begins. The servers are
watched by a ledger, their clients are witnesses: see there what must hold. That both could tell is
shown with known bugs, planted.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from random import Random

import pytest

from odradek.simulation.errors import NodeFailed
from odradek.simulation.faults import nemesis
from odradek.simulation.faults.fault import Fault
from odradek.simulation.faults.host import PowerLoss
from odradek.simulation.faults.network import OneWayCut
from odradek.simulation.world import World
from odradek.zookeeper.zab.peer import Peer
from tests.zookeeper.server.boss import Boss
from tests.zookeeper.server.ensemble import Ensemble
from tests.zookeeper.server.ledger import Ledger
from tests.zookeeper.server.watched import watched_by
from tests.zookeeper.server.witnesses import History, Witness, judge, prepare
from tests.zookeeper.zab.checkers import Violation
from tests.zookeeper.zab.planted import HastyPeer, TrustingPeer, UnrulyPeer

FIRST_SEED = int(os.environ.get("FIRST_SEED", "0"))
SEEDS = range(FIRST_SEED, FIRST_SEED + int(os.environ.get("SEEDS", "4")))
HAUNTED_S = 40
LOCAL_SESSIONS = "localSessionsEnabled=true\nlocalSessionsUpgradingEnabled=true\n"
WITNESSES = [f"w{n}" for n in range(4)]


@dataclass(frozen=True, slots=True)
class Blackout:
    """All these hosts lose their power at once, and get it back at once."""

    victims: tuple[str, ...]

    def begin(self, world: World) -> None:
        for victim in self.victims:
            PowerLoss(victim).begin(world)

    def end(self, world: World) -> None:
        for victim in self.victims:
            PowerLoss(victim).end(world)


@dataclass(frozen=True, slots=True)
class Rift:
    """Some hosts and some others do not reach each other."""

    victims: tuple[str, ...]
    others: tuple[str, ...]

    def begin(self, world: World) -> None:
        for one, other in product(self.victims, self.others):
            world.network.cut(one, other)
            world.network.cut(other, one)

    def end(self, world: World) -> None:
        for one, other in product(self.victims, self.others):
            world.network.heal(one, other)
            world.network.heal(other, one)


def blackout(random: Random, hosts: Sequence[str]) -> Fault:
    return Blackout(tuple(hosts))


def rift(random: Random, hosts: Sequence[str]) -> Fault:
    """Servers on two sides do not reach each other; clients reach both."""
    first = random.randrange(1, len(hosts))
    return Rift(tuple(hosts[:first]), tuple(hosts[first:]))


def deaf_client(random: Random, hosts: Sequence[str]) -> Fault:
    """A server hears a client and is not heard by it."""
    return OneWayCut(hosts[0], random.choice(WITNESSES))


def mute_client(random: Random, hosts: Sequence[str]) -> Fault:
    """A server talks to a client and does not hear it."""
    return OneWayCut(random.choice(WITNESSES), hosts[0])


FAULTS = (
    *nemesis.GENTLE,
    nemesis.kill,
    nemesis.power_loss,
    nemesis.full_disk,
    blackout,
    rift,
    rift,
    deaf_client,
    mute_client,
)


class Haunted:
    """A world from its start to its judgement."""

    def __init__(self, world: World, ensemble: Ensemble) -> None:
        self.history = History()
        self.witnesses = [Witness(it, ensemble.connect_string, self.history) for it in WITNESSES]
        self._world = world
        self._ensemble = ensemble

    def run(self, victims_max: int, *others: Boss) -> int:
        """Let evil happen, then see what is left; says how much the witnesses did."""
        world, ensemble = self._world, self._ensemble
        ensemble.do(prepare)
        processes = [world.host(it.name).start(it.run) for it in self.witnesses]
        processes += [world.host(f"boss {n}").start(it.run) for n, it in enumerate(others)]
        limits = nemesis.Limits(victims_max, pause_s=(0.1, 3.0), duration_s=(0.1, 6.0))
        evil = nemesis.Nemesis(world, [f"zk{id_}" for id_ in ensemble.ids], FAULTS, limits)
        evil.start()
        world.run_for(HAUNTED_S)
        evil.stop()
        clients: list[Witness | Boss] = [*self.witnesses, *others]
        for client in clients:
            client.must_stop = True
        world.run_until(lambda: all(it.is_dead for it in processes), limit_s=300)
        # Whatever sessions were left behind are over by then.
        world.run_for(20)
        ensemble.do(lambda client: judge(client, self.history))
        ensemble.settle()
        return sum(it.done for it in self.witnesses)


def haunt(seed: int, ledger: Ledger, peer: type[Peer] = Peer, settings: str = "") -> int:
    with World(seed) as world:
        random = world.stream("ensemble")
        voters = random.choice([3, 3, 5])
        observers = random.choice([0, 0, 1])
        # Few transactions between snapshots, so that recovery and transfers begin with one.
        more = f"snapCount=60\nsnapshotSizeFactor={random.choice([-1, 0.33])}\n"
        node_type = watched_by(ledger, peer, random.choice([3, 50, 500]))
        ensemble = Ensemble(world, voters, observers, more + settings, node_type)
        return Haunted(world, ensemble).run((voters - 1) // 2)


def haunt_while_members_change(seed: int, ledger: Ledger) -> int:
    """Says how often they did."""
    with World(seed) as world:
        more = "snapCount=60\nreconfigEnabled=true\nskipACL=yes\n"
        ensemble = Ensemble(world, 5, 0, more, watched_by(ledger))
        boss = Boss(ensemble.ids, ensemble.connect_string)
        Haunted(world, ensemble).run(1, boss)
        return boss.changes


@pytest.mark.parametrize("seed", SEEDS)
def test_clients_are_told_the_truth_whatever_happens(
    seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    ledger = Ledger()
    assert haunt(seed, ledger) > 50
    assert len(ledger.delivered) > 50
    assert "differs from the leader's" not in caplog.text
    assert "has digest" not in caplog.text


@pytest.mark.parametrize("seed", SEEDS[1::2])
def test_so_are_those_whose_sessions_are_known_to_one_server_at_first(
    seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    assert haunt(seed, Ledger(), settings=LOCAL_SESSIONS) > 50
    assert "differs from the leader's" not in caplog.text


@pytest.mark.parametrize("seed", SEEDS[::2])
def test_members_change_whatever_happens(seed: int, caplog: pytest.LogCaptureFixture) -> None:
    ledger = Ledger()
    assert haunt_while_members_change(seed, ledger) > 1
    assert "differs from the leader's" not in caplog.text


def complaint(seed: int, peer: type[Peer]) -> str:
    """What the ledger says of a world whose servers have a bug."""
    try:
        haunt(seed, Ledger(), peer)
    except NodeFailed as failure:
        if isinstance(failure.__cause__, Violation):
            return str(failure.__cause__)
        raise
    return ""


@pytest.mark.parametrize(
    ("bug", "what"),
    [
        (HastyPeer, "is delivered with only"),
        (UnrulyPeer, "is delivered after"),
        (TrustingPeer, "is established with only"),
    ],
)
def test_a_planted_bug_is_caught(bug: type[Peer], what: str) -> None:
    found = [complaint(seed, bug) for seed in range(3)]
    assert all(found)
    assert any(what in it for it in found)
