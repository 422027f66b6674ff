"""Real processes on loopback: leaders are killed and stopped under load from kazoo.

`MINUTES` says for how long; without it, each is done once.
"""

from __future__ import annotations

import os
import threading
from itertools import cycle
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.retry import KazooRetry

from tests.waiting import wait_until
from tests.zookeeper.server.running_ensemble import (
    RunningEnsemble,
    RunningMember,
    running_ensemble,
)

MINUTES = float(os.environ.get("MINUTES", "0"))
NUMBER_DIGITS = 10


class Numbers:
    """The sequential numbers that all clients were given for one parent."""

    def __init__(self) -> None:
        self.given: set[int] = set()
        self.faults: list[str] = []
        self._largest = -1
        self._lock = threading.Lock()

    @property
    def largest(self) -> int:
        """The largest that was acknowledged by now: whoever asks later gets a larger one."""
        with self._lock:
            return self._largest

    def take(self, path: str, largest: int) -> None:
        """Note one that was asked for when `largest` was the largest."""
        number = int(path[-NUMBER_DIGITS:])
        with self._lock:
            if number in self.given:
                self.faults.append(f"{path} was given twice")
            if number <= largest:
                self.faults.append(f"{path} was given after {largest}")
            self.given.add(number)
            self._largest = max(self._largest, number)


class Load:
    """One client that creates sequential znodes as fast as it can, and remembers the answers."""

    def __init__(self, connect_string: str, name: str, numbers: Numbers) -> None:
        self.acknowledged: list[str] = []
        self.states: list[str] = []
        self._name = name
        self._numbers = numbers
        self._is_over = threading.Event()
        retry = KazooRetry(max_tries=-1, max_delay=0.2)
        self._client = KazooClient(connect_string, timeout=10, connection_retry=retry)
        self._client.add_listener(lambda state: self.states.append(str(state)))
        self._thread = threading.Thread(target=self._run)

    def start(self) -> None:
        self._client.start()
        self._client.create(f"/alive-{self._name}", ephemeral=True)
        self._thread.start()

    def stop(self) -> None:
        self._is_over.set()
        self._thread.join()
        assert self._client.exists(f"/alive-{self._name}"), "the session did not survive"
        assert "LOST" not in self.states
        self._client.stop()
        self._client.close()

    def _run(self) -> None:
        while not self._is_over.is_set():
            largest = self._numbers.largest
            try:
                path = self._client.create(f"/load/{self._name}-", sequence=True)
            except KazooException:
                self._is_over.wait(0.02)
            else:
                self._numbers.take(path, largest)
                self.acknowledged.append(path)


def hit(ensemble: RunningEnsemble, leader: RunningMember, loads: list[Load], how: str) -> None:
    """Kill or stop the leader, and bring it back once writes go on without it."""
    counts = [len(it.acknowledged) for it in loads]
    if how == "kill":
        leader.kill()
    else:
        leader.pause()
    others = [it for it in ensemble.servers.values() if it is not leader]
    wait_until(lambda: any(it.mode == "leader" for it in others))
    wait_until(
        lambda: all(len(it.acknowledged) > n for it, n in zip(loads, counts, strict=True)), 40
    )
    if how == "kill":
        leader.spawn()
    else:
        leader.resume()
    wait_until(ensemble.all_serve)


def names_on(server: RunningMember) -> set[str]:
    client: Any = KazooClient(server.address, timeout=10)
    client.start()
    client.sync("/load")
    names = {f"/load/{name}" for name in client.get_children("/load")}
    client.stop()
    client.close()
    return names


@pytest.mark.parametrize("count", [3, 5])
def test_leaders_come_and_go_and_no_acknowledged_write_is_lost(tmp_path: Path, count: int) -> None:
    with running_ensemble(tmp_path, *[RunningMember] * count) as ensemble:
        numbers = Numbers()
        loads = [Load(ensemble.connect_string, f"client{n}", numbers) for n in range(3)]
        setup = KazooClient(ensemble.connect_string)
        setup.start()
        setup.create("/load")
        setup.stop()
        setup.close()
        for load in loads:
            load.start()
        deadline_s = monotonic() + MINUTES * 60
        for how in cycle(["kill", "stop"]):
            hit(ensemble, ensemble.until_led(), loads, how)
            if how == "stop" and monotonic() > deadline_s:
                break
        for load in loads:
            load.stop()
        acknowledged = [path for load in loads for path in load.acknowledged]
        assert numbers.faults == []
        assert len(set(acknowledged)) == len(acknowledged)
        for server in ensemble.servers.values():
            assert set(acknowledged) <= names_on(server)
        assert not any("differs" in it.log for it in ensemble.servers.values())
