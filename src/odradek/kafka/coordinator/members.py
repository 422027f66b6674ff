"""A member of a group: what it can speak, what it was given, and what it waits for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from odradek.kafka.coordinator.group_deadlines import Deadline
from odradek.kafka.coordinator.group_effects import Asker

Protocols = tuple[tuple[str, bytes], ...]  # Names with the member's metadata, the best first.


class Client(NamedTuple):
    """Who sends a request, as DescribeGroups shows it: the host as Java prints an address."""

    client_id: str
    host: str


@dataclass(slots=True, eq=False)
class Member:
    """One member, dynamic or static (with an instance id that outlives its member id)."""

    member_id: str
    instance_id: str | None
    client: Client
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: Protocols
    session: Deadline
    assignment: bytes = b""
    is_new: bool = False  # Until its first join is answered it cannot send heartbeats.
    joining: Asker | None = None
    syncing: Asker | None = None

    @property
    def is_excused(self) -> bool:
        """Whether silence is no failure: it waits for us, we do not wait for it."""
        return not self.is_new and (self.joining is not None or self.syncing is not None)

    def protocol_names(self) -> set[str]:
        return {name for name, _ in self.protocols}

    def metadata(self, protocol: str) -> bytes:
        """What it says to the assignor of a protocol, which it must support."""
        return next(metadata for name, metadata in self.protocols if name == protocol)

    def vote(self, candidates: Collection[str]) -> str:
        """The protocol that it likes best of those that all support."""
        return next(name for name, _ in self.protocols if name in candidates)
