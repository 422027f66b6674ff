"""Produce by two generators at once: what a broker takes where no single client is the limit.

A generator compresses on one core. With lz4 and 1 KiB it sends some 330,000 records a second on two
quick cores, even to a broker that writes nothing of them; there it says more of itself than of
brokers. Two of them together ask for more than either broker can take.

    python -m benchmarks.kafka_two_generators --rounds 5

As `kafka_broker` otherwise: the same generator, Apache's ZooKeeper, sides in turns. Each case has a
broker and a directory of its own, which are gone before the next one: where the page cache grows
into memory that was free since the machine's start, the kernel takes several times as long for each
record, on either side, most likely because the host has yet to give that memory.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.kafka_broker import ODRADEK, Goal, Results, given_options, rows
from benchmarks.kafka_cluster import generator_library, servers
from benchmarks.zookeeper_server import environment, warm

GENERATORS = 2
PARTITIONS = 6
SIZE = 1024
CODEC = "lz4"
ACKS = ("1", "all")
GOALS: list[Goal] = [
    ("produce", f"{SIZE}B_acks{acks}_{CODEC}", "records_per_s", 1.2, True) for acks in ACKS
]


class Load:
    """Generators, and the broker that they send to."""

    def __init__(self, program: str, port: int) -> None:
        self._program = program
        self._seeds = f"127.0.0.1:{port}"

    def topic(self, name: str) -> None:
        self._ended(self._begin("topic", name, "-partitions", str(PARTITIONS)))

    def produce(self, name: str, seconds: int, *words: str, generators: int = GENERATORS) -> float:
        """Records a second, of all generators together."""
        asked = "-size", str(SIZE), "-duration", f"{seconds}s", *words
        begun = [self._begin("produce", name, *asked) for _ in range(generators)]
        return sum(float(self._ended(it)["records_per_s"]) for it in begun)

    def _begin(self, verb: str, topic: str, *words: str) -> subprocess.Popen[str]:
        command = [self._program, verb, "-seeds", self._seeds, "-topic", topic, *words]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def _ended(self, generator: subprocess.Popen[str]) -> dict[str, Any]:
        said, _ = generator.communicate()
        found: dict[str, Any] = json.loads(said.splitlines()[-1])
        if "error" in found or found.get("failed"):
            raise RuntimeError(f"a generator failed: {found}")
        return found


def measure(generators: Path, broker: str, seconds: int) -> Results:
    library = generator_library(generators)
    program = library.go_build(str(generators / "kbench"), "kload")
    zookeeper = f"{generators / 'lib' / 'apache-zookeeper'} {{zoo_cfg}}"
    found: Results = {}
    for acks in ACKS:
        with (
            tempfile.TemporaryDirectory() as name,
            servers(library, Path(name), zookeeper, broker, ids=(1,)) as (_, running),
        ):
            library.wait_port(running.port, running.proc, 60, running.log)
            rate = warm_rate(Load(program, running.port), seconds, acks)
            found[f"{SIZE}B_acks{acks}_{CODEC}"] = {"records_per_s": rate}
    return found


def warm_rate(load: Load, seconds: int, acks: str) -> float:
    load.topic("warm")
    load.produce("warm", 2)
    load.topic("measured")
    os.sync()  # What was written before, by either of them, is not to be waited for now.
    return load.produce("measured", seconds, "-acks", acks, "-codec", CODEC)


def main() -> None:
    given = given_options(__doc__, ["produce"])
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    brokers = {"a": f"{given.generators / 'lib' / 'apache-kafka'} {{server_properties}}"}
    brokers["b"] = ODRADEK
    rounds: list[Results] = []
    with tempfile.TemporaryDirectory() as cache:
        warm(cache)
        os.environ.update(environment(cache))
        for turn in range(given.rounds):
            order = sorted(brokers, reverse=bool(turn % 2))
            found = {it: measure(given.generators, brokers[it], given.seconds) for it in order}
            print(found, file=sys.stderr, flush=True)
            rounds.append(found)
    for row in rows("produce", rounds, GOALS):
        print(row, flush=True)


if __name__ == "__main__":
    main()
