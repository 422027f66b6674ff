"""Our ZooKeeper server beside Apache's: one generator of load, alternating rounds, ratios.

The generator (`zkbench`, in Go) and the launcher of Apache's server are not part of the package:
name their folder with `--generators`, or in the variable ODRADEK_BENCH. Run it alone on the
machine: it needs all of it, and Apache against itself differs by up to 30 % between runs.
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
from typing import Any

# (phase, number, what it is, the ratio to reach, whether more is better)
Goal = tuple[str, str, str, float, bool]
GOALS: list[Goal] = [
    ("create", "ops_s", "pipelined creates a second", 2.0, True),
    ("set", "ops_s", "pipelined sets a second", 1.7, True),
    ("get", "ops_s", "pipelined gets a second", 3.0, True),
    ("get_1", "p50_us", "one get outstanding, p50", 0.5, False),
    ("create_1", "p50_us", "one create outstanding, p50", 0.9, False),
    ("watch_fanout", "p50_ms", "one change to 1,000 watchers, p50", 0.7, False),
    ("cold_start_ms", "median", "cold start", 0.25, False),
    ("load", "rss_mb", "memory with 100,000 znodes", 0.3, False),
    ("restart", "ms", "restart with 100,000 znodes", 1.0, False),
]
ODRADEK = f"{sys.executable} -m odradek.cli zookeeper {{zoo_cfg}}"


def environment(cache: str) -> dict[str, str]:
    """As users have it: modules are compiled once, not at each start."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": cache}


def warm(cache: str) -> None:
    """Compile what servers import, as an installation does."""
    servers = "import odradek.cli.zookeeper, odradek.cli.broker, odradek.cli.embedded, uvloop"
    subprocess.run([sys.executable, "-c", servers], check=True, env=environment(cache))


def compare(generators: Path, rounds: int, seconds: float, nodes: int = 1) -> dict[str, Any]:
    command = [
        str(generators / "zkbench" / "zkbench"),
        "compare",
        "--a",
        f"{generators / 'lib' / 'apache-zookeeper-3.9'} {{zoo_cfg}}",
        "--b",
        ODRADEK,
        "--nodes",
        str(nodes),
        "--rounds",
        str(rounds),
        "--secs",
        str(seconds),
    ]
    with tempfile.TemporaryDirectory() as cache:
        warm(cache)
        done = subprocess.run(
            command, check=True, stdout=subprocess.PIPE, env=environment(cache), text=True
        )
    found: dict[str, Any] = json.loads(done.stdout)[
        f"ensemble{nodes}" if nodes > 1 else "standalone"
    ]
    return found


def number(found: dict[str, Any], phase: str, name: str) -> float | None:
    value = found.get(phase)
    if isinstance(value, dict):
        value = value.get(name)
    return value if isinstance(value, int | float) else None


def rows(found: dict[str, Any], goals: Sequence[Goal]) -> Iterator[str]:
    for phase, name, what, goal, is_more_better in goals:
        theirs, ours = number(found["a"], phase, name), number(found["b"], phase, name)
        if theirs is None or ours is None:
            yield f"{what:<40} not measured"
            continue
        ratio = ours / theirs
        is_reached = ratio >= goal if is_more_better else ratio <= goal
        aim = f"{'at least' if is_more_better else 'at most'} {goal}"
        yield (
            f"{what:<40} Apache {theirs:>10.1f}   Odradek {ours:>10.1f}   ratio {ratio:5.2f}"
            f"   ({aim}: {'reached' if is_reached else 'NOT reached'})"
        )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--generators", default=os.environ.get("ODRADEK_BENCH"), type=Path)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--seconds", type=float, default=5)
    given = options.parse_args()
    if given.generators is None:
        sys.exit("where are the generators? Say --generators DIR, or set ODRADEK_BENCH")
    for row in rows(compare(given.generators, given.rounds, given.seconds), GOALS):
        print(row)


if __name__ == "__main__":
    main()
