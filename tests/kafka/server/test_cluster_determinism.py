"""One seed tells one story of a whole cluster: in every process, and whatever was told before."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from odradek.simulation.world import World
from tests.kafka.server.test_ensemble_crashes import ClusterWorld

ROOT = Path(__file__).parent.parent.parent.parent
SEED = 5
TROUBLE_S = 6.0


def digest(seed: int) -> str:
    """A hash over all that happened in a short and evil life."""
    with World(seed, is_traced=True) as world:
        cluster = ClusterWorld(world)
        cluster.start()
        cluster.haunt(TROUBLE_S, cluster.everything(power=True))
        world.run_for(TROUBLE_S)
    return world.trace.digest()


def digest_in_a_process_of_its_own(hash_seed: str) -> str:
    command = [sys.executable, "-m", "tests.kafka.server.test_cluster_determinism", str(SEED)]
    environment = os.environ | {"PYTHONHASHSEED": hash_seed}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
    return done.stdout.decode().strip()


def test_a_cluster_lives_the_same_life_in_every_process_and_after_any_other() -> None:
    digest(SEED + 1)
    after_another = digest(SEED)
    alone = [digest_in_a_process_of_its_own(hash_seed) for hash_seed in ("1", "2")]
    assert [after_another, *alone] == [alone[0]] * 3


def test_another_seed_is_another_life() -> None:
    assert digest(SEED) != digest(SEED + 1)


if __name__ == "__main__":
    print(digest(int(sys.argv[1])))
