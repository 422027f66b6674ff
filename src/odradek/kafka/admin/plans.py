"""Plans of reassignments, as the JSON that Apache's kafka-reassign-partitions reads and writes.

    {"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [1, 2],
                                   "log_dirs": ["any", "/data/2"]}]}

`log_dirs` may be left out; "any" leaves the choice to the broker.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

ANY = "any"
VERSION = 1


class Placement(NamedTuple):
    """Where the replicas of one partition are to be."""

    topic: str
    partition: int
    replicas: tuple[int, ...]
    log_dirs: tuple[str, ...] = ()  # One for each replica, or none.

    @property
    def directories(self) -> dict[int, str]:
        """The directories that are named, by broker."""
        pairs = zip(self.replicas, self.log_dirs, strict=True) if self.log_dirs else ()
        return {broker: path for broker, path in pairs if path != ANY}


class BadPlan(ValueError):
    """The text is no plan; says why."""


def read_plan(text: str) -> list[Placement]:
    try:
        plan = json.loads(text)
    except ValueError as error:
        raise BadPlan(f"no JSON: {error}") from error
    if not isinstance(plan, dict) or plan.get("version", VERSION) != VERSION:
        raise BadPlan(f'must be an object of "version" {VERSION}')
    rows = plan.get("partitions")
    if not isinstance(rows, list) or not rows:
        raise BadPlan('must have a list of "partitions" that is not empty')
    placements = [_read_row(row) for row in rows]
    known = {(it.topic, it.partition) for it in placements}
    if len(known) < len(placements):
        raise BadPlan("names a partition twice")
    return placements


def _read_row(row: Any) -> Placement:
    match row:
        case {"topic": str(topic), "partition": int(partition), "replicas": list(replicas)}:
            log_dirs = row.get("log_dirs") or []
        case _:
            raise BadPlan(f'"topic", "partition" and "replicas" are wanted, not {row!r}')
    if not replicas or len(set(map(str, replicas))) < len(replicas):
        raise BadPlan(f"{topic}-{partition}: replicas are missing, or named twice")
    if not all(type(it) is int for it in replicas) or not all(type(it) is str for it in log_dirs):
        raise BadPlan(f"{topic}-{partition}: replicas are numbers, log_dirs are texts")
    if log_dirs and len(log_dirs) != len(replicas):
        raise BadPlan(f"{topic}-{partition}: {len(log_dirs)} log_dirs, {len(replicas)} replicas")
    return Placement(topic, partition, tuple(replicas), tuple(log_dirs))


def write_plan(placements: Iterable[Placement]) -> str:
    """As Apache's tool writes it: every replica has a directory, or any."""
    rows = [
        {
            "topic": it.topic,
            "partition": it.partition,
            "replicas": list(it.replicas),
            "log_dirs": list(it.log_dirs or (ANY for _ in it.replicas)),
        }
        for it in placements
    ]
    return json.dumps({"version": VERSION, "partitions": rows}, separators=(",", ":"))


class Limited(NamedTuple):
    """Which replicas a limit of replication is for: texts by topic, and the brokers."""

    leaders: dict[str, str]
    followers: dict[str, str]
    brokers: list[int]


def limited(before: Mapping[tuple[str, int], Sequence[int]], plan: Iterable[Placement]) -> Limited:
    """Those that a plan concerns: who has a partition sends it, who gets one fetches it."""
    leaders: dict[str, list[str]] = {}
    followers: dict[str, list[str]] = {}
    brokers: set[int] = set()
    for it in plan:
        old = before[it.topic, it.partition]
        new = [broker for broker in it.replicas if broker not in old]
        if new:
            leaders.setdefault(it.topic, []).extend(f"{it.partition}:{id_}" for id_ in old)
            followers.setdefault(it.topic, []).extend(f"{it.partition}:{id_}" for id_ in new)
            brokers |= {*old, *new}
    return Limited(_joined(leaders), _joined(followers), sorted(brokers))


def _joined(replicas: Mapping[str, Sequence[str]]) -> dict[str, str]:
    return {topic: ",".join(them) for topic, them in replicas.items()}
