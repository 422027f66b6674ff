"""Three brokers of ours beside three of Apache's: alternating rounds, ratios of medians.

As in `kafka_broker`, the generators are not part of the package, and the machine must be free of
other work. Both clusters run on Apache's ZooKeeper, but for `whole`: three ZooKeepers and three
brokers of one kind, all started at once, until the first record is acknowledged by all; and the
memory that they hold then.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from benchmarks.kafka_broker import CODECS, ODRADEK, Goal, Results, compare, given_options, rows
from benchmarks.zookeeper_server import ODRADEK as ODRADEK_ZOOKEEPER
from benchmarks.zookeeper_server import environment, warm

MEMBERS = (1, 2, 3)
SETTLE_S = 5  # Whoever has just started has more to do than to serve.
FAILOVERS = (
    "failover1",
    "failover1tuned",
    "failover500",
    "failover500tuned",
    "ctlfailover1tuned",
)
GROUPS = ("produce3", "latency3", "e2e3", *FAILOVERS, "whole")

# (group, case, number, the ratio to reach, whether more is better)
GOALS: list[Goal] = [
    *(
        ("produce3", f"{size}B_acks{acks}_{codec}", "records_per_s", 1.0, True)
        for size in (100, 1024)
        for acks in ("1", "all")
        for codec in CODECS
    ),
    ("latency3", "acksall", "p50_ms", 0.8, False),
    ("latency3", "acksall", "p99_ms", 1.0, False),
    ("e2e3", "1000_per_s", "p50_ms", 0.8, False),
    *((group, "kill9", "last_ms", 0.85, False) for group in FAILOVERS),
    ("whole", "first", "ms", 0.3, False),
    ("whole", "memory", "rss_mib", 0.2, False),
]


def generator_library(generators: Path) -> Any:
    """The generators' own way of starting servers and weighing them."""
    spec = spec_from_file_location("cluster", generators / "lib" / "cluster.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def servers(
    library: Any, directory: Path, zookeeper: str, broker: str, ids: Sequence[int] = MEMBERS
) -> Iterator[list[Any]]:
    """So many ZooKeepers, then as many brokers, all spawned at once; killed at the end."""
    peers = {it: (library.free_port(), library.free_port()) for it in ids}
    members = "".join(
        f"server.{it}=127.0.0.1:{quorum}:{election}\n" for it, (quorum, election) in peers.items()
    )
    if len(ids) == 1:
        members = ""
    made = [ensemble_member(library, directory, zookeeper, it, members) for it in ids]
    connect = ",".join(f"127.0.0.1:{server.port}" for server in made)
    lines = replicated(len(ids))
    made += [cluster_member(library, directory, broker, it, connect, lines) for it in ids]
    with ExitStack() as stack:
        for server in made:
            stack.callback(server.kill9)
            server.start(wait=False)
        yield made


def ensemble_member(library: Any, directory: Path, template: str, it: int, members: str) -> Any:
    port, data = library.free_port(), directory / f"zookeeper-{it}"
    data.mkdir()
    (data / "myid").write_text(f"{it}\n")
    config = directory / f"zoo-{it}.cfg"
    config.write_text(
        f"clientPort={port}\nclientPortAddress=127.0.0.1\ndataDir={data}\ntickTime=2000\n"
        f"initLimit=10\nsyncLimit=5\nadmin.enableServer=false\n{members}"
    )
    return library.Server(template, str(config), port)


def replicated(count: int) -> list[str]:
    """What a cluster of so many brokers says of its topics."""
    return [
        f"default.replication.factor={count}",
        f"min.insync.replicas={count // 2 + 1}",
        f"offsets.topic.replication.factor={count}",
    ]


def cluster_member(
    library: Any, directory: Path, template: str, it: int, connect: str, lines: list[str]
) -> Any:
    port = library.free_port()
    config = directory / f"server-{it}.properties"
    config.write_text(
        f"broker.id={it}\nlisteners=PLAINTEXT://127.0.0.1:{port}\nzookeeper.connect={connect}\n"
        f"log.dirs={directory / f'broker-{it}'}\n" + "\n".join(lines)
    )
    return library.Server(template, str(config), port)


def first_ack_ns(load: str, ports: Sequence[int]) -> int:
    """Send a record to a topic that is not there yet, until it is acknowledged by all: when."""
    seeds = ",".join(f"127.0.0.1:{port}" for port in ports)
    command = [load, "first", "-seeds", seeds, "-topic", "first", "-timeout", "120s"]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    at_ns: int = json.loads(said.splitlines()[-1])["at_ns"]
    return at_ns


def whole(generators: Path, zookeeper: str, broker: str) -> Results:
    """Six servers of one kind, from nothing to the first record that all have; their memory."""
    library = generator_library(generators)
    load = library.go_build(str(generators / "kbench"), "kload")
    with (
        tempfile.TemporaryDirectory() as name,
        servers(library, Path(name), zookeeper, broker) as running,
    ):
        at_ns = first_ack_ns(load, [it.port for it in running[len(MEMBERS) :]])
        time.sleep(SETTLE_S)
        weights = [it.rss_mib() for it in running]
        return {
            "first": {"ms": (at_ns - running[0].started) / 1e6},
            "memory": {
                "rss_mib": sum(rss for rss, _ in weights),
                "pss_mib": sum(pss for _, pss in weights),
            },
        }


def compare_whole(generators: Path, cache: str, *, reverse: bool) -> Results:
    library = generators / "lib"
    sides = {
        "a": (
            f"{library / 'apache-zookeeper-3.9'} {{zoo_cfg}}",
            f"{library / 'apache-kafka'} {{server_properties}}",
        ),
        "b": (ODRADEK_ZOOKEEPER, ODRADEK),
    }
    os.environ.update(environment(cache))
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    order = sorted(sides, reverse=reverse)
    found = {side: whole(generators, *sides[side]) for side in order}
    print(f"whole: {found}", file=sys.stderr, flush=True)
    return found


def main() -> None:
    given = given_options(__doc__, GROUPS)
    with tempfile.TemporaryDirectory() as cache:
        warm(cache)
        for group in given.only.split(","):
            rounds = []
            for turn in range(given.rounds):
                reverse = bool(turn % 2)
                if group == "whole":
                    found = compare_whole(given.generators, cache, reverse=reverse)
                else:
                    found = compare(given.generators, group, given.seconds, cache, reverse=reverse)
                rounds.append(found)
            for row in rows(group, rounds, GOALS):
                print(row, flush=True)


if __name__ == "__main__":
    main()
