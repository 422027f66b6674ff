"""Our broker beside Apache's: one generator of load, alternating rounds, ratios of medians.

The generator (`kbench`, in Go) and the launchers of Apache's servers are not part of the package:
name their folder with `--generators`, or in the variable ODRADEK_BENCH. Run it alone on the
machine: it needs all of it, and Apache against itself differs by up to 30 % between runs.

Both brokers run on Apache's ZooKeeper, but for the cold start, where ours brings its own. `ceiling`
is `produce1` with a broker that forgets what it is sent (`oblivious`): no broker is sent more.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.zookeeper_server import environment, warm

ODRADEK = f"{sys.executable} -m odradek.cli broker {{server_properties}}"
EMBEDDED = f"{ODRADEK} --override zookeeper.connect="
OBLIVIOUS = f"{sys.executable} -m benchmarks.oblivious {{server_properties}}"
GROUPS = ("cold", "rss", "produce1", "ceiling", "consume", "latency1", "e2e1")
UNUSUAL = {"cold": EMBEDDED, "ceiling": OBLIVIOUS}
CODECS = ("none", "lz4")

Goal = tuple[str, str, str, float, bool]

# (group, case, number, the ratio to reach, whether more is better)
GOALS: list[Goal] = [
    ("cold", "fresh", "ms", 0.2, False),
    ("cold", "again", "ms", 0.2, False),
    ("rss", "idle", "rss_mib", 0.2, False),
    ("rss", "1gib_produced", "rss_mib", 0.2, False),
    ("rss", "create_1000_partitions", "ms", 0.5, False),
    *(
        (group, f"{size}B_acks{acks}_{codec}", "records_per_s", goal, True)
        for group in ("produce1", "ceiling")
        for size, goal in ((100, 1.0), (1024, 1.2))
        for acks in ("1", "all")
        for codec in CODECS
    ),
    *(("consume", f"{size}B_{c}", "mib_per_s", 1.1, True) for size in (100, 1024) for c in CODECS),
    *(("latency1", f"acks{acks}", "p50_ms", 0.7, False) for acks in ("1", "all")),
    *(("latency1", f"acks{acks}", "p99_ms", 0.8, False) for acks in ("1", "all")),
    ("e2e1", "1000_per_s", "p50_ms", 0.7, False),
]
Results = dict[str, Any]


def compare(generators: Path, group: str, seconds: int, cache: str, *, reverse: bool) -> Results:
    """One round of one group, on both sides."""
    kind = "produce1" if group == "ceiling" else group
    with tempfile.NamedTemporaryFile(suffix=".json") as found:
        command = [str(generators / "kbench" / "kbench"), "compare", "--a", "apache"]
        command += ["--b", UNUSUAL.get(group, ODRADEK), "--seconds", str(seconds)]
        command += ["--only", kind, "--json", found.name]
        command += ["--reverse"] if reverse else []
        subprocess.run(command, check=True, stdout=sys.stderr, env=environment(cache))
        results: Results = json.loads(Path(found.name).read_text())["results"][kind]
        return results


def number(rounds: list[Results], side: str, case: str, name: str) -> float | None:
    """The median over the rounds; None if a round did not give it."""
    found = [each[side].get(case, {}).get(name) for each in rounds]
    return None if None in found or not found else median(found)


def rows(group: str, rounds: list[Results], goals: Sequence[Goal] = GOALS) -> Iterator[str]:
    for its_group, case, name, goal, is_more_better in goals:
        if its_group != group:
            continue
        what = f"{group} {case} {name}"
        theirs, ours = number(rounds, "a", case, name), number(rounds, "b", case, name)
        if theirs is None or ours is None:
            yield f"{what:<44} not measured"
            continue
        ratio = ours / theirs
        is_reached = ratio >= goal if is_more_better else ratio <= goal
        aim = f"{'at least' if is_more_better else 'at most'} {goal}"
        yield (
            f"{what:<44} Apache {theirs:>12.3f}   Odradek {ours:>12.3f}   ratio {ratio:5.2f}"
            f"   ({aim}: {'reached' if is_reached else 'NOT reached'})"
        )


def given_options(description: str | None, groups: Sequence[str]) -> argparse.Namespace:
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--generators", default=os.environ.get("ODRADEK_BENCH"), type=Path)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--seconds", type=int, default=8)
    options.add_argument("--only", default=",".join(groups))
    given = options.parse_args()
    if given.generators is None:
        sys.exit("where are the generators? Say --generators DIR, or set ODRADEK_BENCH")
    return given


def main() -> None:
    given = given_options(__doc__, GROUPS)
    with tempfile.TemporaryDirectory() as cache:
        warm(cache)
        for group in given.only.split(","):
            rounds = [
                compare(given.generators, group, given.seconds, cache, reverse=bool(turn % 2))
                for turn in range(given.rounds)
            ]
            for row in rows(group, rounds):
                print(row, flush=True)


if __name__ == "__main__":
    main()
