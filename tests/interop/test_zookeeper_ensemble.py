"""Mixed ensembles: Apache's servers and ours elect, follow and bring each other up to date."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kazoo.client import KazooClient

from tests.interop.apache import server_command
from tests.waiting import wait_until
from tests.zookeeper.server.running_ensemble import (
    RunningEnsemble,
    RunningMember,
    running_ensemble,
)

PATIENCE_S = 60
LONG_S = 200


class ApacheMember(RunningMember):
    """One server of Apache's."""

    def __init__(self, directory: Path, id_: int, members: dict[str, object]) -> None:
        super().__init__(directory, id_, members)
        self._command = server_command(directory / "zoo.cfg")


class OurMember(RunningMember):
    """One server of ours."""


KINDS: dict[str, type[RunningMember]] = {"A": ApacheMember, "O": OurMember}

# The servers in the order of their ids, and who of them will have led: the biggest ids do.
MIXES = [("AAO", "AO"), ("OAA", "A"), ("OOA", "AO"), ("AOO", "O")]


@contextmanager
def client_of(address: str, timeout_s: float = 10) -> Iterator[Any]:
    client = KazooClient(address, timeout=timeout_s)
    client.start(PATIENCE_S)
    try:
        yield client
    finally:
        client.stop()
        client.close()


def write(ensemble: RunningEnsemble, prefix: str, count: int, data: bytes = b"") -> None:
    with client_of(ensemble.connect_string) as client:
        for made in [client.create_async(f"/{prefix}{n:04}", data) for n in range(count)]:
            made.get(PATIENCE_S)


def tree_of(server: RunningMember) -> dict[str, object]:
    """All that one server has, after a sync."""
    found: dict[str, object] = {}
    with client_of(server.address) as client:
        client.sync("/")
        for name in sorted(client.get_children("/")):
            if name != "zookeeper":
                found[name] = client.get(f"/{name}")
    return found


def compare(ensemble: RunningEnsemble, count: int) -> None:
    trees = [tree_of(server) for server in ensemble.servers.values()]
    assert len(trees[0]) == count
    assert all(tree == trees[0] for tree in trees)
    ours = [it for it in ensemble.servers.values() if isinstance(it, OurMember)]
    assert not any("differs" in it.log for it in ours)


@pytest.mark.parametrize(("mix", "leaders"), MIXES)
def test_each_kind_leads_in_turn_and_brings_the_others_up_to_date(
    tmp_path: Path, mix: str, leaders: str
) -> None:
    led: set[type[RunningMember]] = set()
    with running_ensemble(tmp_path, *(KINDS[it] for it in mix)) as ensemble:
        for turn in range(4):
            write(ensemble, f"before{turn}-", 20)
            # A follower that lacks the last write is not elected, whatever its id.
            wait_until(ensemble.is_even, PATIENCE_S)
            leader = ensemble.until_led()
            led.add(type(leader))
            leader.kill()
            ensemble.until_led()
            write(ensemble, f"after{turn}-", 700 if turn == 1 else 20)
            leader.spawn()
            wait_until(ensemble.all_serve, PATIENCE_S)
            compare(ensemble, (turn + 1) * 40 + (680 if turn >= 1 else 0))
    assert led == {KINDS[it] for it in leaders}


def holds(server: RunningMember, content: bytes) -> bool:
    """Whether the log on a server's disk has these bytes."""
    logs = (server.directory / "data" / "version-2").glob("log.*")
    return any(content in log.read_bytes() for log in logs)


def led_by(ensemble: RunningEnsemble, kind: type[RunningMember]) -> RunningMember:
    """Kill leaders until one of this kind leads."""
    while not isinstance(leader := ensemble.until_led(), kind):
        leader.kill()
        ensemble.until_led()
        leader.spawn()
        wait_until(ensemble.all_serve, PATIENCE_S)
    return leader


@pytest.mark.parametrize(("mix", "kind"), [("AAO", "O"), ("OOA", "A")])
def test_what_only_a_dead_leader_had_is_truncated_under_a_leader_of_the_other_kind(
    tmp_path: Path, mix: str, kind: str
) -> None:
    kinds = [KINDS[it] for it in mix]
    with running_ensemble(tmp_path, *kinds, maxSessionTimeout=LONG_S * 1000) as ensemble:
        write(ensemble, "kept-", 20)
        old = led_by(ensemble, KINDS[kind])
        others = [it for it in ensemble.servers.values() if it is not old]
        # Its session must outlive the story: the end of one is a write in the new epoch, and across
        # epochs nothing is truncated.
        with client_of(old.address, LONG_S) as client:
            # Stopped, not killed: a leader that sees them go would step down too soon.
            for other in others:
                other.pause()
            client.create_async("/nobody-hears-this")
            wait_until(lambda: holds(old, b"/nobody-hears-this"))
            old.kill()
        for other in others:
            other.kill()
            other.spawn()
        ensemble.until_led()
        old.spawn()
        wait_until(ensemble.all_serve, PATIENCE_S)
        write(ensemble, "later-", 20)
        compare(ensemble, 40)
        assert not any("nobody" in name for name in tree_of(old))
        ours = [it for it in ensemble.servers.values() if isinstance(it, OurMember)]
        assert any("TRUNC" in it.log for it in ours)
