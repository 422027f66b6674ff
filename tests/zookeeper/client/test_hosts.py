"""Which server is tried next, and after how long."""

from __future__ import annotations

from random import Random

from odradek.zookeeper.client.connect_string import Address
from odradek.zookeeper.client.hosts import PAUSE_S_FIRST, PAUSE_S_MAX, Hosts

ADDRESSES = [Address(name, 2181) for name in "abc"]


def test_all_servers_are_tried_in_turn() -> None:
    hosts = Hosts(ADDRESSES, Random(1))
    first = [hosts.next() for _ in range(3)]
    assert sorted(first) == ADDRESSES
    assert [hosts.next() for _ in range(3)] == first


def test_clients_begin_with_different_servers() -> None:
    assert {Hosts(ADDRESSES, Random(seed)).next() for seed in range(20)} == set(ADDRESSES)


def test_after_a_success_the_next_server_is_another() -> None:
    hosts = Hosts(ADDRESSES, Random(1))
    first = hosts.next()
    hosts.succeeded()
    assert hosts.next() != first


def test_only_the_first_try_comes_without_a_pause() -> None:
    hosts = Hosts(ADDRESSES, Random(1))
    assert hosts.pause_s() == 0
    hosts.next()
    assert 0 < hosts.pause_s() < PAUSE_S_FIRST


def test_pauses_grow_with_each_round_of_failures_up_to_a_limit() -> None:
    hosts = Hosts(ADDRESSES, Random(1))
    for _ in range(3000):
        hosts.next()
    pauses = [hosts.pause_s() for _ in range(100)]
    assert PAUSE_S_FIRST < max(pauses) <= PAUSE_S_MAX
    hosts.succeeded()
    assert max(hosts.pause_s() for _ in range(100)) <= PAUSE_S_FIRST
