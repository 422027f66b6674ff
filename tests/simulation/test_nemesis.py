"""Faults begin, and all of them end."""

from __future__ import annotations

import asyncio
import re
from random import Random

import pytest

from odradek.simulation.faults.disk import FlippedBit
from odradek.simulation.faults.nemesis import GENTLE, Limits, Nemesis, broken_sync, full_disk
from odradek.simulation.processes import Environment
from odradek.simulation.world import World

HOSTS = ("a", "b", "c", "d", "e")
DRAWS = (*GENTLE, full_disk, broken_sync)


async def wait_for_ever(environment: Environment) -> None:
    await asyncio.Event().wait()


def haunt(seed: int, limits: Limits) -> list[tuple[str, str]]:
    """Haunt a world; what the nemesis did, as pairs of `begins` or `ends` and a fault."""
    with World(seed, is_traced=True) as world:
        for name in HOSTS:
            world.host(name).start(wait_for_ever)
        nemesis = Nemesis(world, HOSTS, DRAWS, limits)
        nemesis.start()
        world.run_for(1000)
        nemesis.stop()
        world.run_for(1000)
        check_health(world)
        found = [re.search("nemesis (begins|ends) (.*)", line) for line in world.trace.lines]
        return [(match[1], match[2]) for match in found if match]


def check_health(world: World) -> None:
    """All that was done must have been undone."""
    for name, host in world.hosts.items():
        assert host.is_running
        assert host.process is not None
        assert not host.process.is_paused
        assert host.storage.device.slowness == 1.0
        assert host.storage.device.free_bytes > 0
        started = host.clock.time()
        world.run_for(1)
        assert host.clock.time() - started == pytest.approx(1)
        assert all(world.network.link(name, other).is_open for other in HOSTS)
        assert all(world.network.link(name, other).slowness == 1.0 for other in HOSTS)


def test_every_fault_ends() -> None:
    deeds = haunt(1, Limits(victims_max=2))
    begun = sorted(fault for deed, fault in deeds if deed == "begins")
    assert len(begun) > 50
    assert begun == sorted(fault for deed, fault in deeds if deed == "ends")


def test_every_kind_of_fault_is_drawn() -> None:
    deeds = haunt(2, Limits(victims_max=3, pause_s=(0.1, 1), duration_s=(0.1, 1)))
    assert len({fault.partition("(")[0] for _, fault in deeds}) == len(DRAWS)


def test_no_more_hosts_suffer_at_once_than_the_limit_says() -> None:
    current: list[str] = []
    most = 0
    for deed, fault in haunt(3, Limits(victims_max=3, pause_s=(0.1, 1))):
        if deed == "begins":
            current.append(fault)
            most = max(most, len(current))
        else:
            current.remove(fault)
    assert most == 3


def test_a_nemesis_draws_from_the_seed_alone() -> None:
    assert haunt(4, Limits()) == haunt(4, Limits())
    assert haunt(4, Limits()) != haunt(5, Limits())


@pytest.mark.parametrize("draw", DRAWS, ids=lambda draw: draw.__name__)
def test_every_fault_can_be_done_and_undone_by_hand(draw: object) -> None:
    assert callable(draw)
    with World() as world:
        for name in HOSTS:
            world.host(name).start(wait_for_ever)
        world.run_for(1)
        fault = draw(Random(0), HOSTS)
        fault.begin(world)
        world.run_for(10)
        fault.end(world)
        check_health(world)


def test_a_bit_is_flipped_for_good() -> None:
    async def write_zeros(environment: Environment) -> None:
        environment.disk.open("/zeros", create=True).append(bytes(10))

    with World() as world:
        world.run_to_end(world.host("a").start(write_zeros))
        fault = FlippedBit("a", "/zeros")
        fault.begin(world)
        fault.end(world)
        assert any(world.host("a").storage.tree.file("/zeros").read(0, 10))
