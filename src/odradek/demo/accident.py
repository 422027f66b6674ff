"""A broker is killed while all runs, and is started again: what was felt of it, in seconds.

The one that is struck is the controller, which leads partitions of every topic as well: the brokers
must find a new controller first, and that one new leaders. Until then nobody takes the orders whose
partitions it led; they wait in the producer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import monotonic

from odradek.demo.servers import Servers, name_of
from odradek.demo.shop import ORDERS, Shop
from odradek.kafka.client.errors import TopicPartition
from odradek.local.cluster import wait_until

WITHIN_S = 120.0
NOBODY = -1


@dataclass(frozen=True, slots=True)
class Accident:
    """Who was killed, what it had to do, and how long it took until others did it."""

    victim: str
    pid: int | None
    led: tuple[TopicPartition, ...]
    successor: str
    next_ack_s: float  # From the kill to the first orders that were sent after it and acknowledged.
    down_s: float  # From the kill to the start.
    in_sync_s: float  # From the start until no replica is behind any more.

    def table(self) -> str:
        rows = {
            "killed (SIGKILL)": f"{self.victim}, pid {self.pid}: the controller, and leader of"
            f" {', '.join(map(str, self.led))}",
            "next ack": f"{self.next_ack_s:.1f} s after the kill",
            "controller since": self.successor,
            "started again": f"{self.down_s:.1f} s after the kill",
            "all in sync": f"{self.in_sync_s:.1f} s after that",
        }
        width = max(map(len, rows))
        return "\n".join(f"{what.ljust(width)}  {text}" for what, text in rows.items())


def strike(
    servers: Servers,
    shop: Shop,
    topics: Iterable[str],
    say: Callable[[str], None],
    alone_s: float = 0.0,
) -> Accident:
    """Kill the controller; start it again when orders have gone on without it for a while."""
    names = list(topics)
    roles = servers.roles(names)
    victim, led = roles.controller_id, roles.led_by(roles.controller_id)
    killed_at, pid = monotonic(), servers.kill(victim)
    say(f"{name_of(victim)} is killed: the controller, and leader of {', '.join(map(str, led))}")
    orphans = {where.partition for where in led if where.topic == ORDERS}
    next_ack_s = shop.await_ack(orphans, killed_at, WITHIN_S) - killed_at
    successor = successor_of(servers, victim)
    say(f"{name_of(successor)} is the controller; the next ack came after {next_ack_s:.1f} s")
    threading.Event().wait(alone_s)
    down_s, in_sync_s = come_back(servers, victim, names, killed_at)
    say(f"{name_of(victim)} is started again, and in sync after {in_sync_s:.1f} s")
    return Accident(
        name_of(victim), pid, tuple(led), name_of(successor), next_ack_s, down_s, in_sync_s
    )


def successor_of(servers: Servers, victim: int) -> int:
    """The controller that came after, once a broker has heard of it."""
    found = [victim]

    def is_known() -> bool:
        found[0] = servers.roles(()).controller_id
        return found[0] not in (victim, NOBODY)

    wait_until(is_known, "a new controller", WITHIN_S)
    return found[0]


def come_back(
    servers: Servers, victim: int, topics: list[str], killed_at: float
) -> tuple[float, float]:
    """Start it again: how long it was down, and how long until no replica was behind."""
    started_at = monotonic()
    servers.restart(victim)
    wait_until(lambda: not servers.roles(topics).lagging, "all replicas in sync", WITHIN_S)
    return started_at - killed_at, monotonic() - started_at
