"""What a JoinGroup says, whatever its version."""

from __future__ import annotations

from typing import NamedTuple

from odradek.kafka.coordinator.group_effects import Asker
from odradek.kafka.coordinator.members import Client, Protocols
from odradek.kafka.wire.messages.join_group import JoinGroupRequest

REBALANCE_TIMEOUT_VERSION = 1  # Before it, the session timeout served for both.


class Joiner(NamedTuple):
    """Someone who wants to be, or to stay, a member."""

    asker: Asker
    client: Client
    member_id: str
    instance_id: str | None
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocol_type: str
    protocols: Protocols

    @classmethod
    def of(cls, asker: Asker, request: JoinGroupRequest, client: Client) -> Joiner:
        has_timeout = asker.version >= REBALANCE_TIMEOUT_VERSION
        return cls(
            asker,
            client,
            request.member_id,
            request.group_instance_id,
            request.rebalance_timeout_ms if has_timeout else request.session_timeout_ms,
            request.session_timeout_ms,
            request.protocol_type,
            tuple((each.name, bytes(each.metadata)) for each in request.protocols),
        )
