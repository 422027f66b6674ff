"""Which servers are enough: any two quorums must have a server in common.

    majority       more than half of the voters
    hierarchical   more than half of the weight in more than half of the groups; a group without
                   weight does not count, and a server without weight never leads
    joint          a quorum of each of two, while a membership changes

The text of a membership is the data of `/zookeeper/config`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.settings.members import Member, Role, read_group, read_member


class Quorums(Protocol):
    """A rule that says which sets of voters are enough."""

    @property
    def voters(self) -> frozenset[int]: ...

    def has_quorum(self, ids: Collection[int]) -> bool: ...

    def weight(self, server_id: int) -> int: ...


@dataclass(frozen=True, slots=True)
class Majority:
    """All voters are equal."""

    voters: frozenset[int]

    def has_quorum(self, ids: Collection[int]) -> bool:
        return len(self.voters.intersection(ids)) > len(self.voters) // 2

    def weight(self, server_id: int) -> int:
        return 1


@dataclass(frozen=True, slots=True)
class Hierarchical:
    """Voters have weights and stand in groups; those that are not named weigh 1."""

    voters: frozenset[int]
    groups: Mapping[int, tuple[int, ...]]
    weights: Mapping[int, int] = field(default_factory=dict)

    def has_quorum(self, ids: Collection[int]) -> bool:
        counted = [members for members in self.groups.values() if self._sum(members)]
        won = sum(self._has_won(members, ids) for members in counted)
        return won > len(counted) // 2

    def weight(self, server_id: int) -> int:
        return self.weights.get(server_id, 1) if server_id in self.voters else 0

    def _has_won(self, members: tuple[int, ...], ids: Collection[int]) -> bool:
        return self._sum(members) // 2 < self._sum(it for it in members if it in ids)

    def _sum(self, members: Iterable[int]) -> int:
        return sum(map(self.weight, members))


@dataclass(frozen=True, slots=True)
class Joint:
    """Two rules at once, while one gives way to the other."""

    old: Quorums
    new: Quorums

    @property
    def voters(self) -> frozenset[int]:
        return self.old.voters | self.new.voters

    def has_quorum(self, ids: Collection[int]) -> bool:
        return self.old.has_quorum(ids) and self.new.has_quorum(ids)

    def weight(self, server_id: int) -> int:
        return self.old.weight(server_id)


@dataclass(frozen=True, slots=True)
class Membership:
    """The servers of an ensemble at one version of its configuration."""

    members: Mapping[int, Member]
    quorums: Quorums
    version: int = 0

    @property
    def voters(self) -> frozenset[int]:
        return self.quorums.voters

    def is_observer(self, server_id: int) -> bool:
        """Whether it is named as one; who is not named at all follows, without a vote."""
        member = self.members.get(server_id)
        return member is not None and member.role is Role.OBSERVER

    @property
    def text(self) -> str:
        lines = [f"server.{id_}={self.members[id_]}" for id_ in sorted(self.members)]
        if isinstance(self.quorums, Hierarchical):
            lines += _hierarchy_lines(self.quorums)
        return "\n".join([*lines, f"version={self.version:x}"])


def membership_of(
    members: Mapping[int, Member],
    groups: Mapping[int, tuple[int, ...]] | None = None,
    weights: Mapping[int, int] | None = None,
    version: int = 0,
) -> Membership:
    """What the lines `server.N`, `group.N`, `weight.N` and `version` say together."""
    voters = frozenset(id_ for id_, it in members.items() if it.role is Role.PARTICIPANT)
    if not groups:
        return Membership(members, Majority(voters), version)
    return Membership(members, Hierarchical(voters, groups, weights or {}), version)


def read_membership(text: str) -> Membership:
    """The membership that another server sent."""
    servers: dict[int, Member] = {}
    groups: dict[int, tuple[int, ...]] = {}
    weights: dict[int, int] = {}
    version = 0
    try:
        for line in filter(None, map(str.strip, text.splitlines())):
            key, _, value = line.partition("=")
            kind, _, number = key.partition(".")
            if kind == "server":
                servers[int(number)] = read_member(value)
            elif kind == "group":
                groups[int(number)] = read_group(value)
            elif kind == "weight":
                weights[int(number)] = int(value)
            elif kind == "version":
                version = int(value, 16)
    except ValueError as error:
        raise ProtocolError(f"a configuration that cannot be read: {error}") from error
    return membership_of(servers, groups, weights, version)


def _hierarchy_lines(quorums: Hierarchical) -> list[str]:
    groups = [
        f"group.{id_}={':'.join(map(str, sorted(quorums.groups[id_])))}"
        for id_ in sorted(quorums.groups)
    ]
    return groups + [f"weight.{id_}={quorums.weight(id_)}" for id_ in sorted(quorums.voters)]
