"""How much goes into one request to ZooKeeper."""

from __future__ import annotations

from odradek.kafka.controller.writes import (
    GROUPS_MAX,
    PACK_BYTES,
    Create,
    Delete,
    Group,
    Set,
    packed,
    size_of,
)


def test_groups_stay_whole_and_in_order() -> None:
    groups: list[Group] = [(Create(f"/{it}"), Set(f"/{it}", b"x")) for it in range(1000)]
    packs = list(packed(groups))
    assert [group for pack in packs for group in pack] == groups
    assert [len(pack) for pack in packs] == [GROUPS_MAX] * 3 + [1000 - 3 * GROUPS_MAX]


def test_a_pack_is_bounded_in_bytes() -> None:
    large: Group = (Set("/a", bytes(PACK_BYTES // 3)),)
    assert [len(pack) for pack in packed([large] * 5)] == [2, 2, 1]


def test_what_is_too_large_goes_alone() -> None:
    huge: Group = (Set("/a", bytes(PACK_BYTES * 2)),)
    small: Group = (Delete("/b"),)
    assert list(packed([small, huge, small])) == [[small], [huge], [small]]
    assert size_of(small[0]) < 100


def test_nothing_makes_no_pack() -> None:
    assert list(packed([])) == []
