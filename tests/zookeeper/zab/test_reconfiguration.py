"""What a client may ask of the members, and what comes of it."""

from __future__ import annotations

import pytest

from odradek.zookeeper.wire.errors import Error
from odradek.zookeeper.wire.messages.requests import ReconfigRequest
from odradek.zookeeper.zab.configuration import Configuration
from odradek.zookeeper.zab.quorum import Hierarchical, Membership, membership_of, read_membership
from odradek.zookeeper.zab.reconfiguration import decide_membership
from tests.zookeeper.zab.ensemble import membership

FOURTH = "server.4=four:2888:3888:participant;2181"
ZXID = 0x200000009


def decide(
    joining: str | None = None,
    leaving: str | None = None,
    members: str | None = None,
    version: int = -1,
    current: Membership | None = None,
    standalone_enabled: bool = True,
) -> Membership | Error:
    request = ReconfigRequest(joining, leaving, members, version)
    configuration = Configuration(current or membership(3))
    return decide_membership(configuration, request, ZXID, standalone_enabled)


def voters(found: Membership | Error) -> set[int]:
    assert isinstance(found, Membership)
    assert found.version == ZXID
    return set(found.voters)


def test_servers_join_and_leave_at_once() -> None:
    assert voters(decide(joining=FOURTH)) == {1, 2, 3, 4}
    assert voters(decide(leaving="1")) == {2, 3}
    assert voters(decide(joining=FOURTH, leaving="1, 2")) == {3, 4}
    assert voters(decide(leaving="77")) == {1, 2, 3}


def test_a_server_that_joins_again_changes_its_role() -> None:
    found = decide(joining="server.3=127.0.0.1:2003:3003:observer;2181")
    assert voters(found) == {1, 2}
    assert isinstance(found, Membership)
    assert found.is_observer(3)


def test_all_members_can_be_replaced_with_commas_or_lines_between_them() -> None:
    lines = [f"server.{id_}=h{id_}:1:2:participant;3" for id_ in (7, 8, 9)]
    for separator in (",", "\n"):
        assert voters(decide(members=separator.join(lines))) == {7, 8, 9}
    groups = ["group.1=7:8:9", "weight.7=2"]
    found = decide(members="\n".join([*lines, *groups]))
    assert isinstance(found, Membership)
    assert isinstance(found.quorums, Hierarchical)


@pytest.mark.parametrize("joining", ["nonsense", "server.x=four:1:2;3", "server.4=four:1:2", "4"])
def test_what_cannot_be_read_is_refused(joining: str) -> None:
    assert decide(joining=joining) is Error.BAD_ARGUMENTS


def test_two_servers_cannot_have_one_address() -> None:
    taken = "server.4=127.0.0.1:2001:9999;2181"
    assert decide(joining=taken) is Error.BAD_ARGUMENTS
    assert voters(decide(joining=taken, leaving="1")) == {2, 3, 4}


def test_some_must_be_left_to_vote() -> None:
    assert decide(leaving="1,2") is Error.BAD_ARGUMENTS
    assert voters(decide(leaving="1,2", standalone_enabled=False)) == {3}
    assert decide(leaving="1,2,3", standalone_enabled=False) is Error.BAD_ARGUMENTS


def test_who_had_another_version_in_mind_is_refused() -> None:
    assert decide(leaving="1", version=5) is Error.BAD_VERSION
    assert voters(decide(leaving="1", version=0)) == {2, 3}


def test_one_change_at_a_time() -> None:
    members = membership(3).members
    configuration = Configuration(membership(3), membership_of(members, version=7))
    request = ReconfigRequest(None, "1", None, -1)
    found = decide_membership(configuration, request, ZXID, True)
    assert found is Error.RECONFIG_IN_PROGRESS


def test_groups_change_only_as_a_whole() -> None:
    text = membership(3).text + "\ngroup.1=1:2:3"
    assert decide(leaving="1", current=read_membership(text)) is Error.BAD_ARGUMENTS
