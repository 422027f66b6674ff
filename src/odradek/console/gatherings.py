"""What the console knows of groups and of the ensemble, and what happened since; pure.

Nobody tells of these by himself: they are asked for from time to time, and two answers compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from odradek.console.events import Event, Kind
from odradek.console.sights import counted

EPOCH_BITS = 32


class Member(NamedTuple):
    """A member of a group, and what it was given."""

    id: str
    client: str
    host: str
    partitions: tuple[str, ...]


class Group(NamedTuple):
    """A group as its coordinator describes it."""

    name: str
    state: str
    protocol: str
    assignor: str
    coordinator: str
    members: tuple[Member, ...]


class Server(NamedTuple):
    """A member of the ensemble, as it says; `mode` is "" if it says nothing."""

    endpoint: str
    mode: str = ""
    zxid: int = 0
    connections: int = 0
    znodes: int = 0
    version: str = ""
    latency: str = ""
    figures: tuple[tuple[str, str], ...] = ()  # What `mntr` says, where it is allowed.

    @property
    def epoch(self) -> int:
        return self.zxid >> EPOCH_BITS

    def figure(self, name: str) -> str:
        return dict(self.figures).get(name, "")


def group_changes(
    before: Mapping[str, Group], after: Mapping[str, Group], now_ms: int
) -> list[Event]:
    """What became of groups between two looks."""
    names = sorted(before.keys() | after.keys())
    return [
        Event(now_ms, Kind.REBALANCE, text, group=name)
        for name in names
        if (text := group_change(name, before.get(name), after.get(name)))
    ]


def group_change(name: str, before: Group | None, after: Group | None) -> str:
    if after is None:
        return f"group {name} is gone"
    members = counted(after.members, "member")
    if before is None:
        return f"group {name} appears: {after.state}, {members}"
    was = {it.id: it.partitions for it in before.members}
    now = {it.id: it.partitions for it in after.members}
    if was != now and after.state == "Stable":
        joined, left = len(now.keys() - was.keys()), len(was.keys() - now.keys())
        return f"group {name} has rebalanced: {members} ({joined} joined, {left} left)"
    if before.state != after.state:
        return f"group {name} goes from {before.state} to {after.state}, {members}"
    return ""


def leader_of(servers: Sequence[Server]) -> Server | None:
    return next((it for it in servers if it.mode in ("leader", "standalone")), None)


def ensemble_changes(before: Sequence[Server], after: Sequence[Server], now_ms: int) -> list[Event]:
    """What became of the ensemble between two looks."""
    events = []
    was, now = leader_of(before), leader_of(after)
    if now and was and (now.endpoint, now.epoch) != (was.endpoint, was.epoch):
        text = f"ZooKeeper {now.endpoint} leads the ensemble, in epoch {now.epoch}"
        events.append(Event(now_ms, Kind.ELECTION, text))
    if was and not now:
        events.append(Event(now_ms, Kind.ELECTION, "the ensemble has no leader"))
    if before and now and not was:
        text = f"ZooKeeper {now.endpoint} leads the ensemble again, in epoch {now.epoch}"
        events.append(Event(now_ms, Kind.ELECTION, text))
    modes = {it.endpoint: it.mode for it in before}
    for server in after:
        mode = modes.get(server.endpoint, server.mode)
        if bool(mode) != bool(server.mode):
            text = f"ZooKeeper {server.endpoint} {'serves' if server.mode else 'does not answer'}"
            events.append(Event(now_ms, Kind.CONNECTION, text))
    return events


def writes_between(before: Server | None, after: Server | None) -> int:
    """How many transactions the ensemble has committed between two looks, within one epoch."""
    if before is None or after is None or before.epoch != after.epoch:
        return 0
    return max(0, after.zxid - before.zxid)


def read_server(endpoint: str, srvr: str, mntr: str) -> Server:
    """What a server said to `srvr` and, where it may, to `mntr`."""
    lines = (line.partition(": ") for line in srvr.splitlines())
    said = {name.strip(): value.strip() for name, colon, value in lines if colon}
    if "Mode" not in said:
        return Server(endpoint)
    figures = (line.partition("\t") for line in mntr.splitlines())
    latency = next((it for name, it in said.items() if name.startswith("Latency")), "")
    return Server(
        endpoint,
        mode=said["Mode"],
        zxid=number(said.get("Zxid", "0"), 16),
        connections=number(said.get("Connections", "0")),
        znodes=number(said.get("Node count", "0")),
        version=said.get("Zookeeper version", "").partition("-")[0].partition(",")[0],
        latency=latency,
        figures=tuple((name, value) for name, tab, value in figures if tab),
    )


def number(text: str, base: int = 10) -> int:
    try:
        return int(text, base)
    except ValueError:
        return 0
