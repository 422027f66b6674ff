"""Which replica is nearest."""

from __future__ import annotations

from odradek.kafka.replication.selector import Candidate, nearest

LEADER = Candidate(1, "a", 100)


def test_without_a_rack_the_leader_serves() -> None:
    assert nearest("", LEADER, [Candidate(2, "b", 100)]) is None


def test_in_its_own_rack_the_leader_serves() -> None:
    assert nearest("a", LEADER, [Candidate(2, "a", 100)]) is None


def test_in_another_rack_a_replica_there_serves() -> None:
    assert nearest("b", LEADER, [Candidate(2, "b", 90), Candidate(3, "c", 100)]) == 2


def test_where_nobody_is_near_the_leader_serves() -> None:
    assert nearest("d", LEADER, [Candidate(2, "b", 90)]) is None


def test_of_several_the_one_that_has_most_serves_then_the_latest_then_the_first() -> None:
    many = [Candidate(4, "b", 95, 10), Candidate(3, "b", 95, 20), Candidate(2, "b", 90)]
    assert nearest("b", LEADER, many) == 4
    assert nearest("b", LEADER, [Candidate(4, "b", 95), Candidate(3, "b", 95)]) == 3
