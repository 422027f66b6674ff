"""Who asks, and what the configuration lets anyone do."""

from __future__ import annotations

from dataclasses import dataclass

from odradek.zookeeper.wire.messages.data import Id


@dataclass(slots=True)
class Asker:
    """The session, and the ids of its connection."""

    session_id: int
    ids: list[Id]


NOBODY = Asker(0, [])


@dataclass(slots=True, frozen=True)
class Rules:
    """What the configuration allows."""

    allows_ttl: bool = False
    enforces_quotas: bool = False
    skips_acl: bool = False
    allows_reconfig: bool = False
