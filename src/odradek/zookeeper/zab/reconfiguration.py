"""A change of members, from what a client asks for to the membership that is proposed.

    joining, leaving   change the membership in force, which must be one of majorities
    new members        replace it as a whole, with groups and weights if they are given

The version of a membership is the zxid of its proposal. It is refused while another is on its way,
if the client had another version in mind, if too few would vote, or if no quorum of the new voters
keeps up with the leader: it could not be committed.
"""

from __future__ import annotations

from collections.abc import Iterable

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.settings.members import Address, Member, read_member
from odradek.zookeeper.wire.errors import Error
from odradek.zookeeper.wire.messages.requests import ReconfigRequest
from odradek.zookeeper.zab.configuration import Configuration
from odradek.zookeeper.zab.quorum import Majority, Membership, membership_of, read_membership

VOTERS_MIN = 1
VOTERS_MIN_WITH_STANDALONE = 2  # One alone would be no ensemble any more.


def decide_membership(
    configuration: Configuration, request: ReconfigRequest, zxid: int, standalone_enabled: bool
) -> Membership | Error:
    """The membership that a client asks for; whether its quorum keeps up is not asked here."""
    if configuration.proposed is not None:
        return Error.RECONFIG_IN_PROGRESS
    current = configuration.current
    if request.cur_config_id not in (-1, current.version):
        return Error.BAD_VERSION
    try:
        membership = _asked_for(current, request, zxid)
    except (ValueError, ProtocolError):
        return Error.BAD_ARGUMENTS
    least = VOTERS_MIN_WITH_STANDALONE if standalone_enabled else VOTERS_MIN
    return membership if len(membership.voters) >= least else Error.BAD_ARGUMENTS


def _asked_for(current: Membership, request: ReconfigRequest, zxid: int) -> Membership:
    if request.new_members is not None:
        given = read_membership(request.new_members.replace(",", "\n"))
        return Membership(given.members, given.quorums, zxid)
    if not isinstance(current.quorums, Majority):
        raise ValueError("members join and leave one by one only where majorities decide")
    members = dict(current.members)
    for text in _split(request.leaving_servers):
        members.pop(int(text), None)
    for text in _split(request.joining_servers):
        server_id, member = _read_joiner(text)
        _refuse_taken(member, (it for id_, it in members.items() if id_ != server_id))
        members[server_id] = member
    return membership_of(members, version=zxid)


def _split(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def _read_joiner(text: str) -> tuple[int, Member]:
    key, _, value = text.partition("=")
    member = read_member(value.strip())
    if member.client_address is None:
        raise ValueError("a server that joins must say where its clients go")
    return int(key.strip().rpartition(".")[2]), member


def _refuse_taken(member: Member, others: Iterable[Member]) -> None:
    taken = {address for other in others for address in _addresses(other)}
    if taken.intersection(_addresses(member)):
        raise ValueError("two servers cannot have the same address")


def _addresses(member: Member) -> set[Address]:
    return {*member.quorum_addresses, *member.election_addresses}
