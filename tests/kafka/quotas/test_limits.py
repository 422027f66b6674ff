"""Whose limit counts."""

from __future__ import annotations

import pytest

from odradek.kafka.admin.entities import Entity
from odradek.kafka.quotas.limits import Limit, Limits, Owner, read_path

RANKED = [
    "users/u/clients/c",
    "users/u/clients/<default>",
    "users/u",
    "users/<default>/clients/c",
    "users/<default>/clients/<default>",
    "users/<default>",
    "clients/c",
    "clients/<default>",
]
OWNERS = [Owner("u", "c")] * 2 + [Owner("u", "")]
OWNERS += OWNERS + [Owner("", "c")] * 2


def limits(paths: dict[str, float]) -> Limits:
    found = Limits("producer_byte_rate")
    for path, value in paths.items():
        entity = read_path(path)
        assert entity is not None
        found.put(entity, {"producer_byte_rate": str(value)})
    return found


@pytest.mark.parametrize("rank", range(len(RANKED)))
def test_the_most_particular_counts(rank: int) -> None:
    among = limits({path: number for number, path in enumerate(RANKED) if number >= rank})
    assert among.find("u", "c") == Limit(OWNERS[rank], rank)


def test_whoever_is_not_meant_has_no_limit() -> None:
    among = limits({"users/u": 1, "users/u/clients/c": 2, "clients/c": 3})
    assert among.find("other", "other") is None
    assert among.find("u", "other") == Limit(Owner("u", ""), 1)
    assert among.find("other", "c") == Limit(Owner("", "c"), 3)


def test_no_client_id_is_nobodys() -> None:
    among = limits({"clients/<default>": 1, "users/u/clients/<default>": 2})
    assert among.find("u", "") is None
    among = limits({"users/<default>": 1})
    assert among.find("u", "") == Limit(Owner("u", ""), 1)


def test_what_is_not_said_any_more_does_not_count() -> None:
    among = limits({"users/u": 1})
    assert among
    among.put(Entity(user="u"), {"consumer_byte_rate": "1"})
    assert not among
    among.put(Entity(user="u"), {"producer_byte_rate": "many"})
    assert not among


def test_paths_are_read_as_they_are_written() -> None:
    for path in (*RANKED, "ips/<default>", "ips/10.0.0.1", "users/u%201/clients/%2A"):
        entity = read_path(path)
        assert entity is not None and entity.path == path
    assert read_path("topics/t") is None
    assert read_path("users/u/other/c") is None
