"""A world with everything in it: keepers, a writer, and a nemesis that gives them no rest.

Run as a program it prints the hash of its trace, so that processes can be compared.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from functools import partial

from odradek.simulation.faults.nemesis import Limits, Nemesis
from odradek.simulation.processes import Environment, Main
from odradek.simulation.world import World
from tests.simulation import journal

KEEPERS = ("k1", "k2", "k3")
HAUNTED_S = 120


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was promised, what was kept, and all that happened."""

    promised: list[tuple[str, str]]
    kept: dict[str, bytes]
    trace: list[str]
    digest: str


def haunt(seed: int, keep: Main = journal.keep) -> Outcome:
    promised: list[tuple[str, str]] = []
    with World(seed, is_traced=True) as world:
        for keeper in KEEPERS:
            world.host(keeper).start(keep)
            world.host(f"watcher of {keeper}").start(journal.watch(keeper))
        world.host("writer").start(partial(write, promised))
        nemesis = Nemesis(world, KEEPERS, limits=Limits(victims_max=2, pause_s=(0.1, 5.0)))
        nemesis.start()
        world.run_for(HAUNTED_S)
        nemesis.stop()
        world.run_for(30)
        trees = {keeper: world.host(keeper).storage.tree for keeper in KEEPERS}
        kept = {
            keeper: tree.file(journal.JOURNAL).read(0, 1 << 20) for keeper, tree in trees.items()
        }
        return Outcome(promised, kept, world.trace.lines, world.trace.digest())


async def write(promised: list[tuple[str, str]], environment: Environment) -> None:
    """Have lines kept, several at a time, and note which of them were promised to be."""

    async def write_one(line: str) -> None:
        keeper = environment.random.choice(KEEPERS)
        try:
            async with asyncio.timeout(5):
                if await journal.ask(keeper, line) == "kept":
                    promised.append((keeper, line))
        except OSError:
            environment.narrate(f"hears nothing about {line}")

    number = 0
    while True:
        lines = [f"line {number + offset}" for offset in range(3)]
        await asyncio.wait([asyncio.create_task(write_one(line)) for line in lines])
        number += len(lines)
        await asyncio.sleep(environment.random.uniform(0, 0.5))


if __name__ == "__main__":
    print(haunt(int(sys.argv[1])).digest)
