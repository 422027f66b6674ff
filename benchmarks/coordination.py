"""Groups, commits and transactions: our broker beside Apache's, in turns, as ratios of medians.

The load is made by `benchmarks/load`, in Go, which is built first. The launcher of Apache's broker
is not part of the package: name its folder with `--generators`, or in the variable ODRADEK_BENCH.
Both brokers run all the time, on one ZooKeeper of ours, and are asked in turns; run it alone on
the machine. Beside what a client sees stands what an operation costs the broker's processor.

A group has joined when all its members have synced in one generation; they learn of a rebalance by
heartbeats, which they send every 20 ms, where clients take seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.many_partitions import (
    HOST,
    ODRADEK,
    Server,
    Servers,
    free_port,
    start_zookeeper,
)
from benchmarks.zookeeper_server import warm

LOAD = Path(__file__).parent / "load"
TICK_US = 1_000_000 / os.sysconf("SC_CLK_TCK")
SETTINGS = {
    "broker.id": 1,
    "offsets.topic.replication.factor": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "group.initial.rebalance.delay.ms": 0,
    "log.retention.bytes": 1 << 30,
    "log.retention.check.interval.ms": 20_000,  # After the default 5 minutes a disk is full.
    "log.segment.delete.delay.ms": 1_000,
    "log.segment.bytes": 1 << 28,
}


class Case(NamedTuple):
    """One kind of load, the number that counts, and the ratio to reach."""

    name: str
    load: str
    options: tuple[str, ...]
    figure: str
    goal: float
    is_more_better: bool = False


CASES = [
    Case("one member joins", "join", ("-rounds", "20"), "p50_ms", 0.8),
    Case("100 members join", "join", ("-members", "100", "-rounds", "5"), "p50_ms", 0.8),
    Case("OffsetCommit, 1 partition", "commit", (), "p50_ms", 0.8),
    *(
        Case(f"OffsetCommit, {count} partitions", "commit", ("-partitions", count), "p50_ms", 0.8)
        for count in ("6", "20", "50")
    ),
    Case("small transactions, 1 producer", "transact", (), "per_s", 1.0, True),
    Case("small transactions, 16 producers", "transact", ("-producers", "16"), "per_s", 1.0, True),
    Case("idempotent produce, 100 B", "produce", (), "per_s", 1.0, True),
    Case("idempotent produce, 1 KiB", "produce", ("-size", "1024"), "per_s", 1.0, True),
    Case(
        "transactions of 10,000, 100 B", "produce", ("-transaction", "10000"), "per_s", 1.0, True
    ),
    Case(
        "transactions of 10,000, 1 KiB", "produce",
        ("-transaction", "10000", "-size", "1024"), "per_s", 1.0, True,
    ),
]  # fmt: skip


class Found(NamedTuple):
    """What one round of a case gave."""

    figure: float
    cpu_us: float  # Of the broker, an operation.


class Side(NamedTuple):
    """One of the brokers."""

    name: str
    server: Server


def processor_us(pid: int) -> float:
    """What a process has spent of the processor's time so far."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) * TICK_US


def build(directory: str) -> Path:
    program = Path(directory) / "load"
    subprocess.run(["go", "build", "-o", str(program), "."], cwd=LOAD, check=True)
    return program


def run(program: Path, case: Case, side: Side, seconds: float) -> Found:
    where = ("-address", f"{HOST}:{side.server.port}", "-seconds", str(seconds))
    os.sync()  # What was written before, by either of them, is not to be waited for now.
    before = processor_us(side.server.pid)
    command = [str(program), case.load, *where, *case.options]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    spent = processor_us(side.server.pid) - before
    told = json.loads(done.stdout)
    return Found(told[case.figure], spent / max(told["operations"], 1))


def start_brokers(servers: Servers, directory: Path, apache: Path) -> list[Side]:
    zookeeper_port = start_zookeeper(servers, directory)
    sides = []
    for name, command in (
        ("Apache", [str(apache / "lib" / "apache-kafka")]),
        ("Odradek", [*ODRADEK, "broker"]),
    ):
        folder, port = directory / name, free_port()
        folder.mkdir()
        file = folder / "server.properties"
        own = {
            "listeners": f"PLAINTEXT://{HOST}:{port}",
            "log.dirs": folder / "data",
            "zookeeper.connect": f"{HOST}:{zookeeper_port}/{name}",
        }
        file.write_text("".join(f"{key}={value}\n" for key, value in (SETTINGS | own).items()))
        server = servers.start([*command, str(file)], port, folder / "log")
        server.connected().close()
        sides.append(Side(name, server))
    return sides


def row(case: Case, found: dict[str, list[Found]]) -> str:
    theirs, ours = (median(it.figure for it in found[name]) for name in ("Apache", "Odradek"))
    cpu = " and ".join(f"{median(it.cpu_us for it in each):.0f}" for each in found.values())
    ratio = ours / theirs
    is_reached = ratio >= case.goal if case.is_more_better else ratio <= case.goal
    aim = f"{'at least' if case.is_more_better else 'at most'} {case.goal}"
    return (
        f"{case.name:<34} {case.figure:<7} Apache {theirs:>12.3f}   Odradek {ours:>12.3f}"
        f"   ratio {ratio:5.2f} ({aim}: {'reached' if is_reached else 'NOT reached'})"
        f"   us of processor: {cpu}"
    )


def compare(
    cases: Iterable[Case], sides: list[Side], program: Path, rounds: int, seconds: float
) -> Iterator[str]:
    for case in cases:
        found: dict[str, list[Found]] = defaultdict(list)
        for side in sides:
            run(program, case, side, min(seconds, 2))  # A JVM is slow before it is warm.
        for turn in range(rounds):
            for side in sides if turn % 2 else reversed(sides):
                found[side.name].append(run(program, case, side, seconds))
        yield row(case, {side.name: found[side.name] for side in sides})


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--generators", default=os.environ.get("ODRADEK_BENCH"), type=Path)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seconds", type=float, default=5)
    options.add_argument("--only", default="", help="cases whose name has this in it")
    given = options.parse_args()
    if given.generators is None:
        sys.exit("where is Apache's launcher? Say --generators DIR, or set ODRADEK_BENCH")
    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        cache = stack.enter_context(tempfile.TemporaryDirectory())
        warm(cache)
        program = build(directory)
        servers = Servers(cache)
        stack.callback(servers.kill)
        sides = start_brokers(servers, Path(directory), given.generators)
        cases = (case for case in CASES if given.only in case.name)
        for line in compare(cases, sides, program, given.rounds, given.seconds):
            print(line, flush=True)


if __name__ == "__main__":
    main()
