"""What happened to groups and to the ensemble, between two looks."""

from __future__ import annotations

from odradek.console.events import Kind
from odradek.console.gatherings import (
    Group,
    Member,
    Server,
    ensemble_changes,
    group_changes,
    read_server,
    writes_between,
)

SRVR = """Zookeeper version: 3.9.3-c26634f34490bb0ea7a09cc51e05ede3b4e320ee, built on 2024-10-17
Latency min/avg/max: 0/0.6/12
Received: 10
Connections: 4
Outstanding: 0
Zxid: 0x300000007
Mode: leader
Node count: 155
"""


def group(state: str, **members: str) -> dict[str, Group]:
    found = [Member(it, "client", "host", (given,)) for it, given in members.items()]
    return {"g": Group("g", state, "consumer", "range", "b:1", tuple(found))}


def text(before: dict[str, Group], after: dict[str, Group]) -> str:
    events = group_changes(before, after, 5)
    assert all(it.kind is Kind.REBALANCE and it.group == "g" for it in events)
    return " ".join(it.text for it in events)


def test_a_group_appears_rebalances_empties_and_is_gone() -> None:
    one, two = group("Stable", a="t-0"), group("Stable", a="t-0", b="t-1")
    assert text({}, one) == "group g appears: Stable, 1 member"
    assert text(one, two) == "group g has rebalanced: 2 members (1 joined, 0 left)"
    assert text(two, one) == "group g has rebalanced: 1 member (0 joined, 1 left)"
    assert text(one, group("Empty")) == "group g goes from Stable to Empty, 0 members"
    assert text(group("Empty"), {}) == "group g is gone"
    assert text(two, two) == ""


def test_partitions_that_change_hands_are_a_rebalance() -> None:
    before, after = group("Stable", a="t-0", b="t-1"), group("Stable", a="t-1", b="t-0")
    assert text(before, after) == "group g has rebalanced: 2 members (0 joined, 0 left)"


def test_what_a_server_says_is_understood() -> None:
    server = read_server("z:2181", SRVR, "zk_synced_followers\t2\nnonsense\n")
    assert (server.mode, server.zxid, server.epoch) == ("leader", 0x300000007, 3)
    assert (server.connections, server.znodes, server.version) == (4, 155, "3.9.3")
    assert (server.latency, server.figure("zk_synced_followers")) == ("0/0.6/12", "2")
    refusal = "mntr is not executed because it is not in the whitelist."
    assert read_server("z:2181", SRVR, refusal).figures == ()
    assert read_server("z:2181", "", "") == Server("z:2181")


def test_the_ensemble_elects_and_loses_its_leader() -> None:
    a, b = Server("a:1", "leader", 1 << 32), Server("b:1", "follower", 1 << 32)
    later = [Server("a:1"), Server("b:1", "leader", 2 << 32)]
    said = [it.text for it in ensemble_changes([a, b], later, 5)]
    assert said == [
        "ZooKeeper b:1 leads the ensemble, in epoch 2",
        "ZooKeeper a:1 does not answer",
    ]
    nobody = [Server("a:1"), Server("b:1")]
    assert "the ensemble has no leader" in [it.text for it in ensemble_changes(later, nobody, 5)]
    again = [it.text for it in ensemble_changes(nobody, later, 5)]
    assert again[0] == "ZooKeeper b:1 leads the ensemble again, in epoch 2"
    assert ensemble_changes([], [a, b], 5) == ensemble_changes([a, b], [a, b], 6) == []


def test_zxids_count_transactions_within_an_epoch() -> None:
    before, after = Server("a:1", "leader", (1 << 32) + 5), Server("b:1", "leader", (1 << 32) + 9)
    assert writes_between(before, after) == 4
    assert writes_between(before, Server("a:1", "leader", 2 << 32)) == 0
    assert writes_between(None, after) == writes_between(after, None) == 0
