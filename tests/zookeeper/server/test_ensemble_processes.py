"""Real processes on loopback: leaders are killed and stopped under load from kazoo.

`ROUNDS` says how often the leader is hit in each way.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
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

ROUNDS = int(os.environ.get("ROUNDS", "1"))


class Load:
    """One client that creates sequential znodes as fast as it can, and remembers the answers."""

    def __init__(self, connect_string: str, name: str) -> None:
        self.acknowledged: list[str] = []
        self.states: list[str] = []
        self._name = name
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
            try:
                path = self._client.create(f"/load/{self._name}-", sequence=True)
            except KazooException:
                self._is_over.wait(0.02)
            else:
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
        loads = [Load(ensemble.connect_string, f"client{n}") for n in range(3)]
        setup = KazooClient(ensemble.connect_string)
        setup.start()
        setup.create("/load")
        setup.stop()
        setup.close()
        for load in loads:
            load.start()
        for how in ["kill", "stop"] * ROUNDS:
            hit(ensemble, ensemble.until_led(), loads, how)
        for load in loads:
            load.stop()
        acknowledged = [path for load in loads for path in load.acknowledged]
        assert len(set(acknowledged)) == len(acknowledged)
        for server in ensemble.servers.values():
            assert set(acknowledged) <= names_on(server)
        assert not any("differs" in it.log for it in ensemble.servers.values())
