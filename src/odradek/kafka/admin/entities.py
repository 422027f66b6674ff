"""Whom quotas and credentials are kept for: users, client ids, both together, addresses.

    users/alice    users/alice/clients/app    clients/<default>    ips/10.0.0.1

A name is written in a znode's path as a URL would have it; the one who stands for all others
is `<default>` there, and None here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote, unquote_plus

from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.wire.errors import ErrorCode

DEFAULT = "<default>"
USER, CLIENT_ID, IP = "user", "client-id", "ip"


class Absent(NamedTuple):
    """A part that an entity does not have, which is not the same as its default."""


ABSENT = Absent()
Part = str | None | Absent


class Entity(NamedTuple):
    """Someone that is limited."""

    user: Part = ABSENT
    client_id: Part = ABSENT
    ip: Part = ABSENT

    def parts(self) -> dict[str, str | None]:
        """The parts that it has, by their names on the wire."""
        parts = {USER: self.user, CLIENT_ID: self.client_id, IP: self.ip}
        return {kind: name for kind, name in parts.items() if not isinstance(name, Absent)}

    @property
    def path(self) -> str:
        """Where it is kept, under /config."""
        if not isinstance(self.ip, Absent):
            return f"ips/{escaped(self.ip)}"
        if isinstance(self.user, Absent):
            assert not isinstance(self.client_id, Absent)
            return f"clients/{escaped(self.client_id)}"
        if isinstance(self.client_id, Absent):
            return f"users/{escaped(self.user)}"
        return f"users/{escaped(self.user)}/clients/{escaped(self.client_id)}"


def escaped(name: str | None) -> str:
    """A name as part of a path; a URL of Java's leaves only these as they are: . - _"""
    return DEFAULT if name is None else quote(name, safe="").replace("~", "%7E")


def unescaped(part: str) -> str | None:
    return None if part == DEFAULT else unquote_plus(part)


def read_entity(parts: Mapping[str, str | None]) -> Entity | Refusal:
    """Whom a client means, or why nobody can be meant."""
    reason = ""
    if not parts:
        reason = "Invalid empty client quota entity"
    elif unknown := [kind for kind in parts if kind not in (USER, CLIENT_ID, IP)]:
        reason = f"Unhandled client quota entity type: {unknown[0]}"
    elif empty := [kind for kind, name in parts.items() if name == ""]:
        reason = f"Empty {empty[0]} not supported"
    elif IP in parts and len(parts) > 1:
        reason = "An ip cannot be limited together with a user or a client id"
    if reason:
        return Refusal(ErrorCode.INVALID_REQUEST, reason)
    return Entity(parts.get(USER, ABSENT), parts.get(CLIENT_ID, ABSENT), parts.get(IP, ABSENT))
