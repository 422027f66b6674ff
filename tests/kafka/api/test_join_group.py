"""JoinGroup, SyncGroup, Heartbeat and LeaveGroup: a group's walk through all versions."""

from __future__ import annotations

import asyncio

from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.describe_groups import (
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from odradek.kafka.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from odradek.kafka.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from odradek.kafka.wire.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
)
from odradek.kafka.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from odradek.kafka.wire.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from tests.kafka.api.administered import Administered
from tests.kafka.api.grouped import coordinating

ALL_OF_A_GROUP = 1 << 3 | 1 << 6 | 1 << 8


def join_of(group: str, member_id: str = "", session_timeout_ms: int = 10_000) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id=group,
        session_timeout_ms=session_timeout_ms,
        rebalance_timeout_ms=10_000,
        member_id=member_id,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"wants")],
    )


async def join(
    broker: Administered, group: str, version: int, member_id: str = ""
) -> JoinGroupResponse:
    joined = await broker.ask(join_of(group, member_id), version, JoinGroupResponse)
    if joined.error_code == ErrorCode.MEMBER_ID_REQUIRED:
        assert version >= 4
        joined = await broker.ask(join_of(group, joined.member_id), version, JoinGroupResponse)
    return joined


async def sync(
    broker: Administered, group: str, joined: JoinGroupResponse, version: int
) -> SyncGroupResponse:
    mine = SyncGroupRequestAssignment(member_id=joined.member_id, assignment=b"gets")
    message = SyncGroupRequest(
        group_id=group,
        generation_id=joined.generation_id,
        member_id=joined.member_id,
        protocol_type="consumer",
        protocol_name="range",
        assignments=[mine] if joined.leader == joined.member_id else [],
    )
    return await broker.ask(message, version, SyncGroupResponse)


async def beat(broker: Administered, group: str, joined: JoinGroupResponse, version: int) -> int:
    message = HeartbeatRequest(
        group_id=group, generation_id=joined.generation_id, member_id=joined.member_id
    )
    return (await broker.ask(message, version, HeartbeatResponse)).error_code


async def leave(broker: Administered, group: str, member_id: str, version: int) -> int:
    if version < 3:
        message = LeaveGroupRequest(group_id=group, member_id=member_id)
    else:
        message = LeaveGroupRequest(group_id=group, members=[MemberIdentity(member_id=member_id)])
    return (await broker.ask(message, version, LeaveGroupResponse)).error_code


@coordinating()
async def test_a_member_walks_through_every_version(broker: Administered) -> None:
    for version in range(10):
        group = f"g{version}"
        joined = await join(broker, group, version)
        assert joined.error_code == 0 and joined.leader == joined.member_id
        assert joined.protocol_name == "range"
        synced = await sync(broker, group, joined, min(version, 5))
        assert (synced.error_code, synced.assignment) == (0, b"gets")
        assert await beat(broker, group, joined, min(version, 4)) == 0
        assert await leave(broker, group, joined.member_id, min(version, 5)) == 0
        gone = await beat(broker, group, joined, min(version, 4))
        assert gone == ErrorCode.UNKNOWN_MEMBER_ID


@coordinating()
async def test_a_second_member_makes_the_first_join_again(broker: Administered) -> None:
    first = await join(broker, "g", 3)
    await sync(broker, "g", first, 3)
    second = asyncio.ensure_future(join(broker, "g", 3))
    while await beat(broker, "g", first, 3) != ErrorCode.REBALANCE_IN_PROGRESS:
        assert not second.done()
        await asyncio.sleep(0)
    again = await join(broker, "g", 3, first.member_id)
    assert again.generation_id == (await second).generation_id == first.generation_id + 1
    assert {each.member_id for each in again.members} == {
        again.member_id,
        second.result().member_id,
    }


@coordinating(group_min_session_timeout_ms=10)
async def test_who_is_silent_is_no_member(broker: Administered) -> None:
    joined = await broker.ask(join_of("g", session_timeout_ms=20), 3, JoinGroupResponse)
    shard = broker.broker.coordinators.groups.shard_of("g")
    await broker.until(lambda: not shard.desk.groups["g"].members)
    assert await beat(broker, "g", joined, 3) == ErrorCode.UNKNOWN_MEMBER_ID


@coordinating()
async def test_groups_are_listed_and_described(broker: Administered) -> None:
    joined = await join(broker, "g", 3)
    await sync(broker, "g", joined, 3)
    for version in range(6):
        states = ["stable"] if version >= 4 else []
        message = ListGroupsRequest(states_filter=states, types_filter=[])
        listed = await broker.ask(message, version, ListGroupsResponse)
        assert [each.group_id for each in listed.groups] == ["g"]
    nothing = ListGroupsRequest(states_filter=["Dead"], types_filter=[])
    assert (await broker.ask(nothing, 5, ListGroupsResponse)).groups == []
    for version in range(6):
        wanted = DescribeGroupsRequest(
            groups=["g", "unknown"], include_authorized_operations=version >= 3
        )
        described = await broker.ask(wanted, version, DescribeGroupsResponse)
        known, unknown = described.groups
        assert (known.group_state, unknown.group_state) == ("Stable", "Dead")
        assert known.members[0].client_host == "/127.0.0.1"
        if version >= 3:
            assert known.authorized_operations == ALL_OF_A_GROUP
