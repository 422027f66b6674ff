"""`odradek up` beside Apache's servers: from nothing to the first record that is acknowledged.

Ours is one command, with its defaults; Apache's ZooKeeper and Kafka are spawned at once, as a
script would. One node of each, then three and three, on empty directories. As in `kafka_broker`,
the generators are not part of the package, and the machine must be free of other work.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.kafka_broker import Goal, Results, given_options, rows
from benchmarks.kafka_cluster import first_ack_ns, generator_library, replicated, servers
from benchmarks.zookeeper_server import environment, warm

COUNTS = {"one": 1, "three": 3}
GOALS: list[Goal] = [
    ("one", "first", "ms", 0.2, False),
    ("three", "first", "ms", 0.3, False),
]


@contextmanager
def command_up(count: int, port: int) -> Iterator[None]:
    """`odradek up`, as a user types it."""
    command = [sys.executable, "-m", "odradek.cli", "up", "--ephemeral", "--port", str(port)]
    if count > 1:
        command += ["--brokers", str(count)]
        command += [word for line in replicated(count) for word in ("--override", line)]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, process_group=0)
    try:
        yield
    finally:
        running.send_signal(signal.SIGINT)
        running.wait(60)


def ours(generators: Path, count: int) -> Results:
    library = generator_library(generators)
    load = library.go_build(str(generators / "kbench"), "kload")
    port, began_ns = library.free_port(), time.time_ns()
    with command_up(count, port):
        return {"first": {"ms": (first_ack_ns(load, [port]) - began_ns) / 1e6}}


def theirs(generators: Path, count: int) -> Results:
    library, ids = generator_library(generators), range(1, count + 1)
    load = library.go_build(str(generators / "kbench"), "kload")
    zookeeper = f"{generators / 'lib' / 'apache-zookeeper-3.9'} {{zoo_cfg}}"
    broker = f"{generators / 'lib' / 'apache-kafka'} {{server_properties}}"
    with (
        tempfile.TemporaryDirectory() as name,
        servers(library, Path(name), zookeeper, broker, ids) as running,
    ):
        at_ns = first_ack_ns(load, [running[count].port])
        return {"first": {"ms": (at_ns - running[0].started) / 1e6}}


def main() -> None:
    given = given_options(__doc__, list(COUNTS))
    with tempfile.TemporaryDirectory() as cache:
        warm(cache)
        os.environ.update(environment(cache))
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        ours(given.generators, 1)  # Modules that only this command imports are compiled now.
        for group in given.only.split(","):
            rounds = []
            for turn in range(given.rounds):
                sides = {"a": theirs, "b": ours}
                order = sorted(sides, reverse=bool(turn % 2))
                rounds.append(
                    {side: sides[side](given.generators, COUNTS[group]) for side in order}
                )
            for row in rows(group, rounds, GOALS):
                print(row, flush=True)


if __name__ == "__main__":
    main()
