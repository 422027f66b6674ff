"""Who is enough."""

from __future__ import annotations

from itertools import chain, combinations

import pytest

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.zab.quorum import Hierarchical, Majority, read_membership

NINE = frozenset(range(1, 10))
THREE_GROUPS = {1: (1, 2, 3), 2: (4, 5, 6), 3: (7, 8, 9)}


def test_more_than_half_of_the_voters_are_a_majority() -> None:
    four = Majority(frozenset({1, 2, 3, 4}))
    assert not four.has_quorum({1, 2})
    assert four.has_quorum({1, 2, 4})


def test_who_has_no_vote_does_not_count() -> None:
    assert not Majority(frozenset({1, 2, 3})).has_quorum({1, 7, 8, 9})


def test_a_quorum_of_groups_is_a_majority_of_weight_in_a_majority_of_groups() -> None:
    quorums = Hierarchical(NINE, THREE_GROUPS)
    assert quorums.has_quorum({1, 2, 4, 5})
    assert not quorums.has_quorum({1, 2, 3, 4, 7})


def test_a_group_without_weight_is_not_counted_and_its_servers_never_lead() -> None:
    quorums = Hierarchical(NINE, THREE_GROUPS, dict.fromkeys((7, 8, 9), 0))
    assert not quorums.has_quorum({1, 2, 7, 8, 9})
    assert quorums.has_quorum({1, 2, 4, 5})
    assert quorums.weight(7) == 0
    assert quorums.weight(1) == 1


def test_weights_count_within_a_group() -> None:
    quorums = Hierarchical(frozenset({1, 2, 3}), {1: (1, 2, 3)}, {1: 3})
    assert quorums.has_quorum({1})
    assert not quorums.has_quorum({2, 3})


@pytest.mark.parametrize(
    "quorums",
    [
        Majority(frozenset({1, 2, 3, 4})),
        Hierarchical(frozenset(range(1, 7)), {1: (1, 2, 3), 2: (4, 5, 6)}, {2: 2, 6: 0}),
    ],
)
def test_any_two_quorums_have_a_server_in_common(quorums: Majority | Hierarchical) -> None:
    ids = sorted(quorums.voters)
    subsets = chain.from_iterable(combinations(ids, size) for size in range(len(ids) + 1))
    winning = [set(it) for it in subsets if quorums.has_quorum(it)]
    assert winning
    assert all(one & other for one in winning for other in winning)


def test_the_text_of_a_membership_is_read_again_to_the_same() -> None:
    text = (
        "server.1=a:2888:3888:participant;0.0.0.0:2181\n"
        "server.2=b:2888:3888:participant\n"
        "server.3=c:2888:3888:observer\n"
        "group.1=1:2\n"
        "weight.1=1\n"
        "weight.2=0\n"
        "version=100000000"
    )
    membership = read_membership(text)
    assert membership.text == text
    assert membership.voters == {1, 2}
    assert membership.version == 0x100000000


def test_a_membership_that_cannot_be_read_is_its_sender_s_fault() -> None:
    with pytest.raises(ProtocolError):
        read_membership("server.one=a:1:2:participant")
    with pytest.raises(ProtocolError):
        read_membership("server.1=a\nversion=0")
