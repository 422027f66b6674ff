"""Our ensemble of three beside Apache's: rates, a start, an election, memory; ratios of medians.

    python -m benchmarks.zookeeper_ensemble --generators DIR
    python -m benchmarks.zookeeper_ensemble --generators DIR --no-rates   without the generator

Run it alone on the machine: it needs all of it.

A start lasts from the first process to the first write that is answered. An election lasts from
SIGKILL of the leader to the first write that a survivor answers. In both a new client tries each
server every few milliseconds, whatever became of the earlier ones, with the same tickTime on both
sides; the two sides take turns.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

from benchmarks.zookeeper_processes import (
    ODRADEK,
    ServerProcess,
    read_frame,
    servers,
    session,
    try_session,
)
from benchmarks.zookeeper_server import Goal, compare, rows
from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.errors import Error
from odradek.zookeeper.wire.messages.data import open_acl
from odradek.zookeeper.wire.messages.requests import CreateRequest
from odradek.zookeeper.wire.messages.session import ReplyHeader
from odradek.zookeeper.wire.requests import encode_request

MEMBERS = 3
TRY_EVERY_S = 0.02
PATIENCE_S = 60.0
SETTLE_S = 2.0
RATES: list[Goal] = [
    ("create", "ops_s", "pipelined creates a second", 2.0, True),
    ("set", "ops_s", "pipelined sets a second", 2.0, True),
    ("get", "ops_s", "pipelined gets a second", 2.0, True),
    ("create_1", "p50_us", "one create outstanding, p50", 1.0, False),
]
TIMES: list[Goal] = [
    ("start", "ms", "from start to the first write", 0.3, False),
    ("election", "ms", "from SIGKILL to the first write", 0.7, False),
    ("memory", "mb", "memory of a server, idle", 0.3, False),
]
Numbers = dict[str, dict[str, float]]


def try_write(port: int) -> bool:
    """Whether one new client gets one write answered."""
    talking = try_session(port, 3.0)
    if talking is None:
        return False
    with talking:
        try:
            request = CreateRequest("/first", b"x", open_acl(), 0)
            talking.sendall(encode_request(1, Op.CREATE, request))
            answer = read_frame(talking)
        except OSError:
            return False
    if answer is None:
        return False
    return ReplyHeader.read(answer)[0].err in (Error.OK, Error.NODE_EXISTS)


def until_written(alive: list[ServerProcess], since_s: float) -> float:
    """Milliseconds until a write is answered by one of these servers."""
    with ThreadPoolExecutor(64) as pool:
        tries: dict[Future[bool], None] = {}
        while perf_counter() - since_s < PATIENCE_S:
            tries |= {pool.submit(try_write, server.port): None for server in alive}
            done, _ = wait(tries, timeout=TRY_EVERY_S)
            if any(it.result() for it in done):
                return (perf_counter() - since_s) * 1000
            for it in done:
                del tries[it]
    raise TimeoutError(f"no write was answered within {PATIENCE_S} seconds")


def leader_among(made: list[ServerProcess]) -> ServerProcess:
    (found,) = (it for it in made if b"Mode: leader" in it.word(b"srvr"))
    return found


def story(command: list[str], tick_ms: int) -> dict[str, float]:
    """One start, some rest, and the end of one leader."""
    with servers(MEMBERS, command, tick_ms=tick_ms) as made:
        since_s = perf_counter()
        for server in made:
            server.start()
        started_ms = until_written(made, since_s)
        for server in made:
            session(server).close()  # All have joined before one is missed.
        sleep(SETTLE_S)
        memory_mb = sum(server.rss_mb() for server in made) / MEMBERS
        leader = leader_among(made)
        since_s = perf_counter()
        leader.stop(signal.SIGKILL)
        elected_ms = until_written([it for it in made if it is not leader], since_s)
    return {"start": started_ms, "election": elected_ms, "memory": memory_mb}


def take_turns(sides: dict[str, list[str]], rounds: int, tick_ms: int) -> dict[str, Numbers]:
    told: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
    for number in range(rounds):
        for side, command in sides.items():
            told[side].append(story(command, tick_ms))
            said = "  ".join(f"{what} {value:.0f}" for what, value in told[side][-1].items())
            print(f"  round {number + 1}, {side}: {said}", file=sys.stderr)
    return {
        side: {phase: {name: median(it[phase] for it in stories)} for phase, name, *_ in TIMES}
        for side, stories in told.items()
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--generators", default=os.environ.get("ODRADEK_BENCH"), type=Path)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--seconds", type=float, default=5)
    options.add_argument("--tick-ms", type=int, default=2000)
    options.add_argument("--no-rates", action="store_true")
    given = options.parse_args()
    if given.generators is None:
        sys.exit("where are the generators? Say --generators DIR, or set ODRADEK_BENCH")
    apache = [str(given.generators / "lib" / "apache-zookeeper-3.9"), "{zoo_cfg}"]
    for row in rows(take_turns({"a": apache, "b": ODRADEK}, given.rounds, given.tick_ms), TIMES):
        print(row, flush=True)
    if not given.no_rates:
        for row in rows(compare(given.generators, given.rounds, given.seconds, MEMBERS), RATES):
            print(row)


if __name__ == "__main__":
    main()
