"""Writes drawn from a seed, and what the tree must be after the first so many of them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from random import Random
from typing import Any

from odradek.zookeeper.client.aio import ZooKeeperClient

State = dict[str, tuple[bytes, int]]  # Path to data and version.


@dataclass(slots=True, frozen=True)
class Write:
    """One write, perhaps of two znodes at once."""

    verb: str
    paths: tuple[str, ...]
    data: bytes

    def send(self, client: ZooKeeperClient) -> asyncio.Future[Any]:
        match self.verb:
            case "create":
                return client.create(self.paths[0], self.data)
            case "set":
                return client.set_data(self.paths[0], self.data)
            case "delete":
                return client.delete(self.paths[0])
        pair = client.transaction()
        pair.create(self.paths[0], self.data)
        pair.create(self.paths[1], self.data)
        return pair.commit()

    def apply(self, state: State) -> State:
        after = dict(state)
        for path in self.paths:
            if self.verb == "delete":
                del after[path]
            else:
                version = after[path][1] + 1 if self.verb == "set" else 0
                after[path] = (self.data, version)
        return after


def draw_writes(random: Random, state: State, count: int, life: int) -> list[Write]:
    """So many writes, each possible after those before it."""
    writes: list[Write] = []
    for number in range(count):
        write = _draw(random, sorted(state), f"/{life}-{number}")
        state = write.apply(state)
        writes.append(write)
    return writes


def _draw(random: Random, paths: list[str], new: str) -> Write:
    data = random.randbytes(random.choice([0, 10, 700, 5000]))
    verb = random.choice(["create", "create", "pair", "set", "delete"])
    if verb == "pair":
        return Write("pair", (new, new + "-twin"), data)
    if verb == "create" or not paths:
        return Write("create", (new,), data)
    return Write(verb, (random.choice(paths),), data)


def states_after(state: State, writes: list[Write]) -> list[State]:
    """The state after none, one, two … of the writes."""
    states = [state]
    for write in writes:
        states.append(write.apply(states[-1]))
    return states
