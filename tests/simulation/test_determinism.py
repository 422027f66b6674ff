"""One seed tells one story, in every process; another tells another."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from odradek.runtime.disk import File
from odradek.simulation.processes import Environment
from odradek.simulation.world import run
from tests.simulation import journal
from tests.simulation.haunted import haunt

ROOT = Path(__file__).parent.parent.parent
SEEDS = int(os.environ.get("SEEDS", "5"))


def digest_in_a_process_of_its_own(seed: int, hash_seed: str) -> str:
    command = [sys.executable, "-m", "tests.simulation.haunted", str(seed)]
    environment = os.environ | {"PYTHONHASHSEED": hash_seed}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
    return done.stdout.decode().strip()


def test_equal_seeds_lead_to_equal_traces() -> None:
    assert haunt(1).trace == haunt(1).trace
    assert haunt(1).trace != haunt(2).trace


def test_equal_seeds_lead_to_equal_traces_in_every_process() -> None:
    digests = [digest_in_a_process_of_its_own(3, hash_seed) for hash_seed in ("1", "2")]
    assert digests == [haunt(3).digest] * 2


def test_a_set_of_tasks_is_walked_in_the_order_of_their_making() -> None:
    async def main(environment: Environment) -> list[str]:
        tasks = [asyncio.create_task(asyncio.sleep(0), name=f"{n:02}") for n in range(50)]
        names = [task.get_name() for task in set(tasks)]
        await asyncio.wait(tasks)
        return names

    names = run(main)
    assert names == sorted(names)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_what_was_promised_was_kept(seed: int) -> None:
    outcome = haunt(seed)
    assert len(outcome.promised) > 50
    assert lost(outcome.promised, outcome.kept) == []


def test_a_keeper_that_does_not_sync_is_found_out() -> None:
    outcomes = [haunt(seed, keep_carelessly) for seed in range(3)]
    assert any(lost(outcome.promised, outcome.kept) for outcome in outcomes)


def lost(promised: list[tuple[str, str]], kept: dict[str, bytes]) -> list[tuple[str, str]]:
    lines = {keeper: text.splitlines() for keeper, text in kept.items()}
    return [(keeper, line) for keeper, line in promised if line.encode() not in lines[keeper]]


async def keep_carelessly(environment: Environment) -> None:
    """A keeper that promises what only its memory holds."""
    disk = environment.disk
    disk.make_directories("/data")
    file = disk.open(journal.JOURNAL, create=True)
    disk.sync_directory("/")
    disk.sync_directory("/data")
    journal.read_whole_lines(file)
    server = await asyncio.start_server(partial(promise, file), None, journal.PORT)
    await server.serve_forever()


async def promise(file: File, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while line := await reader.readline():
            if line != b"ping\n":
                file.append(line)
            writer.write(b"kept\n")
    except OSError:
        pass
    finally:
        writer.close()
