"""The lines that name the members of an ensemble."""

from __future__ import annotations

import pytest

from odradek.zookeeper.settings import Address, Endpoint, Member, Role
from odradek.zookeeper.settings.members import read_member


@pytest.mark.parametrize(
    ("text", "member"),
    [
        ("a:2888:3888", Member((Endpoint("a", 2888, 3888),))),
        ("a:1:2:Observer", Member((Endpoint("a", 1, 2),), Role.OBSERVER)),
        ("a:1:2;2181", Member((Endpoint("a", 1, 2),), client_address=Address("0.0.0.0", 2181))),
        (
            "[fe80::1]:1:2:participant;[::]:2181",
            Member((Endpoint("fe80::1", 1, 2),), client_address=Address("::", 2181)),
        ),
        (
            "a:1:2|[::2]:3:4:observer",
            Member((Endpoint("a", 1, 2), Endpoint("::2", 3, 4)), Role.OBSERVER),
        ),
    ],
)
def test_a_line_names_a_member_by_hosts_ports_and_role(text: str, member: Member) -> None:
    assert read_member(text) == member
    assert read_member(str(member)).role == member.role


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "must be host:"),
        ("a:1:2:participant:x", "must be host:"),
        (":1:2", "must be host:"),
        ("a:1:2;2181;2182", "must be host:"),
        ("a:1:2;b:c:1", "must be host:"),
        ("a:1:one", "has the port 'one', which must be a whole number"),
        ("a:1:70000", "has the port '70000', which must be from 0 to 65535"),
        ("a:1:1", "two different ports"),
        ("a:1:2:leader", "must be one of participant, observer"),
        ("a:1:2:observer|b:1:2:participant", "the same role"),
        ("[::1:2888:3888", "must close the bracket"),
        ("[::1]2888:3888", "must close the bracket"),
    ],
)
def test_a_line_that_names_no_member_says_why(text: str, reason: str) -> None:
    with pytest.raises(ValueError) as caught:
        read_member(text)
    assert reason in str(caught.value)


def test_a_member_is_shown_as_the_config_node_shows_it() -> None:
    member = read_member("z:2888:3888|[::1]:2889:3889;2181")
    assert str(member) == "[::1]:2889:3889|z:2888:3888:participant;0.0.0.0:2181"
    assert member.quorum_addresses == (Address("z", 2888), Address("::1", 2889))
    assert member.election_addresses == (Address("z", 3888), Address("::1", 3889))
