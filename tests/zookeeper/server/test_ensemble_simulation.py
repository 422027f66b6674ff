"""Whole servers under faults: whatever happens, clients were told the truth.

`SEEDS` says how many worlds are tried, `FIRST_SEED` with which one it begins.
"""

from __future__ import annotations

import os

import pytest

from odradek.simulation.faults import nemesis
from odradek.simulation.world import World
from tests.zookeeper.server.ensemble import Ensemble
from tests.zookeeper.server.witnesses import History, Witness, judge, prepare

FIRST_SEED = int(os.environ.get("FIRST_SEED", "0"))
SEEDS = range(FIRST_SEED, FIRST_SEED + int(os.environ.get("SEEDS", "4")))
HAUNTED_S = 60
FAULTS = (*nemesis.GENTLE, nemesis.kill, nemesis.power_loss, nemesis.full_disk)


@pytest.mark.parametrize("seed", SEEDS)
def test_clients_are_told_the_truth_whatever_happens(
    seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    history = History()
    with World(seed) as world:
        random = world.stream("ensemble")
        voters = random.choice([3, 3, 5])
        # Few transactions between snapshots, so that recovery and transfers begin with one.
        ensemble = Ensemble(world, voters, random.choice([0, 0, 1]), more="snapCount=60\n")
        ensemble.do(prepare)
        witnesses = [Witness(f"w{n}", ensemble.connect_string, history) for n in range(4)]
        processes = [world.host(it.name).start(it.run) for it in witnesses]
        hosts = [f"zk{id_}" for id_ in ensemble.ids]
        limits = nemesis.Limits(victims_max=(voters - 1) // 2, duration_s=(0.1, 12.0))
        evil = nemesis.Nemesis(world, hosts, FAULTS, limits)
        evil.start()
        world.run_for(HAUNTED_S)
        evil.stop()
        for witness in witnesses:
            witness.must_stop = True
        world.run_until(lambda: all(it.is_dead for it in processes), limit_s=300)
        # Whatever sessions were left behind are over by then.
        world.run_for(20)
        ensemble.do(lambda client: judge(client, history))
        ensemble.settle()
    assert sum(it.done for it in witnesses) > 100
    assert "differs from the leader's" not in caplog.text
    assert "has digest" not in caplog.text
