"""How long a partition has no leader after a kill: ours beside Apache's.

Apache misses a broker that is killed when its ZooKeeper session ends, and when that is depends on
its last sign of life: with the default time-out 12 to 18 seconds pass. Ours sees that its process
is gone. A client of ZooKeeper watches the broker's znode, and three times are told:

    floor_ms   from the kill until the znode is gone
    last_ms    from the kill until the last partition that the broker led has taken a record again
    after_ms   the one less the other: what comes after the session, or how long before its end

All runs on Apache's ZooKeeper, in turns; the generators are not part of the package (see
`kafka_broker`). Run it alone on the machine.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from benchmarks.kafka_broker import ODRADEK, Goal, Results, given_options, rows
from benchmarks.kafka_cluster import generator_library
from benchmarks.zookeeper_server import environment, warm
from odradek.zookeeper.client.aio import ZooKeeperClient

TUNED = {"zookeeper.session.timeout.ms": 2000, "replica.lag.time.max.ms": 2000}
TOPICS_MAX = 20  # So many are made until one has the leader that is asked for.
SETTLE_S = 2.0
TIMEOUT_S = 120


class Case(NamedTuple):
    """Who is killed, and how much it led."""

    partitions: int
    is_tuned: bool = False
    is_controller: bool = False


CASES = {
    "1": Case(1),
    "1tuned": Case(1, is_tuned=True),
    "500": Case(500),
    "500tuned": Case(500, is_tuned=True),
    "controller1": Case(1, is_controller=True),
    "controller1tuned": Case(1, is_tuned=True, is_controller=True),
    "controller500tuned": Case(500, is_tuned=True, is_controller=True),
}
GOALS: list[Goal] = [(group, "kill9", "last_ms", 0.85, False) for group in CASES]


class Load:
    """The generator's small commands, each answered in a line of JSON."""

    def __init__(self, program: str, seeds: str) -> None:
        self._start = [program]
        self._seeds = ["-seeds", seeds]

    def command(self, verb: str, topic: str, *options: object) -> list[str]:
        return [*self._start, verb, *self._seeds, "-topic", topic, *map(str, options)]

    def ask(self, verb: str, topic: str, *options: object) -> Any:
        command = self.command(verb, topic, *options)
        said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        return json.loads(said.splitlines()[-1])


def wait_until_all_know_all(program: str, brokers: Sequence[Any]) -> None:
    """Ports are open before the last broker to come is known to all: a topic could not have it."""
    for broker in brokers:
        load = Load(program, f"127.0.0.1:{broker.port}")
        end = time.monotonic() + TIMEOUT_S
        while len(load.ask("meta", "none")["brokers"]) < len(brokers):
            if time.monotonic() > end:
                raise RuntimeError(f"broker {broker.id} does not know the others")


def topic_to_lose(load: Load, case: Case) -> tuple[str, int]:
    """A topic, and the broker to kill: one that leads in it, and is the controller or is not."""
    for number in range(TOPICS_MAX):
        topic = f"f{number}"
        load.ask("topic", topic, "-partitions", case.partitions, "-rf", 3)
        time.sleep(SETTLE_S)
        about = load.ask("meta", topic)
        leaders = {it["leader"] for it in about["partitions"].values()}
        for leader in sorted(leaders):
            if (leader == about["controller"]) is case.is_controller:
                return topic, leader
    raise RuntimeError(f"no leader to lose in {TOPICS_MAX} topics")


async def gone_ns(connect: str, path: str, is_watched: Future[None]) -> int:
    """When a znode went, by the wall clock."""
    async with ZooKeeperClient(connect, random=Random()) as client:
        gone = asyncio.Event()
        assert await client.exists(path, watch=lambda event: gone.set()) is not None
        is_watched.set_result(None)
        await asyncio.wait_for(gone.wait(), TIMEOUT_S)
        return time.time_ns()


def measure(library: Any, program: str, broker: str, case: Case) -> Results:
    """Kill a leader, and take the time apart."""
    settings, tick_ms = (TUNED, 500) if case.is_tuned else ({}, 2000)
    with (
        library.Cluster([broker] * 3, props=settings, tick=tick_ms) as cluster,
        ThreadPoolExecutor(1) as watching,
    ):
        wait_until_all_know_all(program, cluster.brokers)
        load = Load(program, cluster.bootstrap)
        topic, victim = topic_to_lose(load, case)
        is_watched: Future[None] = Future()
        path, connect = f"/brokers/ids/{victim}", f"127.0.0.1:{cluster.zk_port}"
        gone = watching.submit(lambda: asyncio.run(gone_ns(connect, path, is_watched)))
        is_watched.result(TIMEOUT_S)
        command = load.command("failover", topic, "-broker", victim, "-timeout", f"{TIMEOUT_S}s")
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as failing:
            assert failing.stdout is not None and failing.stdout.readline().strip() == "ready"
            time.sleep(SETTLE_S)
            killed_ns: int = next(it for it in cluster.brokers if it.id == victim).kill9()
            said, _ = failing.communicate(f"{killed_ns}\n", timeout=TIMEOUT_S)
        last_ms: float = json.loads(said.splitlines()[-1])["last_ms"]
        floor_ms = (gone.result(TIMEOUT_S) - killed_ns) / 1e6
        return {"kill9": {"floor_ms": floor_ms, "last_ms": last_ms, "after_ms": last_ms - floor_ms}}


def main() -> None:
    given = given_options(__doc__, tuple(CASES))
    library = generator_library(given.generators)
    program = library.go_build(str(given.generators / "kbench"), "kload")
    with tempfile.TemporaryDirectory() as cache:
        warm(cache)
        library.os.environ.update(environment(cache))
        sides = {"a": f"{Path(library.LIB) / 'apache-kafka'} {{server_properties}}", "b": ODRADEK}
        for group in given.only.split(","):
            rounds = []
            for turn in range(given.rounds):
                order = sorted(sides, reverse=bool(turn % 2))
                found = {it: measure(library, program, sides[it], CASES[group]) for it in order}
                print(f"{group}: {found}", file=sys.stderr, flush=True)
                rounds.append(found)
            for row in rows(group, rounds, GOALS):
                print(row, flush=True)


if __name__ == "__main__":
    main()
