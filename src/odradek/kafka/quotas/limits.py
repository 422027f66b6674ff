"""Whose limit counts: the most particular that there is.

    user and client id   user with any client id   user
    any user with client id   any user with any client id   any user
    client id   any client id

Whoever has a limit of their own shares it with nobody; a limit of a user is shared by all its
client ids, one of a client id by all users. What is said of anybody counts for each by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from odradek.kafka.admin.entities import ABSENT, Entity, Part, unescaped


class Owner(NamedTuple):
    """Who shares one limit; "" stands for all."""

    user: str
    client_id: str


class Limit(NamedTuple):
    """What counts for someone, and with whom it is shared."""

    owner: Owner
    value: float


class Limits:
    """All limits of one kind, by whom they are said of."""

    def __init__(self, key: str) -> None:
        self.key = key
        self._values: dict[tuple[Part, Part], float] = {}

    def __bool__(self) -> bool:
        return bool(self._values)

    def put(self, entity: Entity, texts: Mapping[str, str]) -> None:
        """Take over what is said of someone; what is no number says nothing."""
        parts = entity.user, entity.client_id
        self._values.pop(parts, None)
        value = number(texts.get(self.key))
        if value is not None:
            self._values[parts] = value

    def find(self, user: str, client_id: str) -> Limit | None:
        """What counts for a request; None if nothing does."""
        for parts, owner in ranked(user, client_id):
            value = self._values.get(parts)
            if value is not None:
                return Limit(owner, value)
        return None


def ranked(user: str, client_id: str) -> Iterator[tuple[tuple[Part, Part], Owner]]:
    """All whose limits could count, the most particular first. No client id is nobody's."""
    both, user_alone, client_alone = Owner(user, client_id), Owner(user, ""), Owner("", client_id)
    for one_user in (user, None):
        if client_id:
            yield (one_user, client_id), both
            yield (one_user, None), both
        yield (one_user, ABSENT), user_alone
    if client_id:
        yield (ABSENT, client_id), client_alone
        yield (ABSENT, None), client_alone


def number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def read_path(path: str) -> Entity | None:
    """Whom a path below /config is about; None if it is nobody who could be limited."""
    match path.split("/"):
        case ["users", user]:
            return Entity(user=unescaped(user))
        case ["users", user, "clients", client_id]:
            return Entity(user=unescaped(user), client_id=unescaped(client_id))
        case ["clients", client_id]:
            return Entity(client_id=unescaped(client_id))
        case ["ips", address]:
            return Entity(ip=unescaped(address))
        case _:
            return None
