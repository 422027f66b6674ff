"""Users, clients and addresses are kept under the names that Kafka keeps them under."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.kafka.admin.entities import Entity, escaped, read_entity, unescaped
from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.wire.errors import ErrorCode


@pytest.mark.parametrize(
    ("parts", "path"),
    [
        ({"user": "u 1", "client-id": None}, "users/u%201/clients/<default>"),
        ({"user": "alice"}, "users/alice"),
        ({"user": None}, "users/<default>"),
        ({"client-id": "a*b~c/d"}, "clients/a%2Ab%7Ec%2Fd"),
        ({"client-id": None}, "clients/<default>"),
        ({"ip": "10.0.0.1"}, "ips/10.0.0.1"),
        ({"user": "<default>"}, "users/%3Cdefault%3E"),
    ],
)
def test_an_entity_has_its_place(parts: dict[str, str | None], path: str) -> None:
    entity = read_entity(parts)
    assert isinstance(entity, Entity)
    assert entity.path == path
    assert entity.parts() == parts


@given(st.none() | st.text(min_size=1))
def test_a_name_comes_back_from_its_path(name: str | None) -> None:
    try:
        (name or "").encode()
    except UnicodeEncodeError:
        return
    assert unescaped(escaped(name)) == name
    assert "/" not in escaped(name)


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"user": ""},
        {"group": "g"},
        {"ip": "1.2.3.4", "user": "u"},
        {"ip": None, "client-id": ""},
    ],
)
def test_some_parts_mean_nobody(parts: dict[str, str | None]) -> None:
    refusal = read_entity(parts)
    assert isinstance(refusal, Refusal)
    assert refusal.code is ErrorCode.INVALID_REQUEST
