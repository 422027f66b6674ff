"""Quotas are found by the filters of Kafka, and kept as Kafka keeps them."""

from __future__ import annotations

import pytest

from odradek.kafka.admin.entities import Entity
from odradek.kafka.admin.quotas import (
    ANY,
    DEFAULT,
    EXACT,
    Filter,
    decide_quotas,
    quotas_of,
    read_filter,
)
from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.alter_client_quotas import OpData
from odradek.kafka.wire.messages.describe_client_quotas import ComponentData

ALICE = Entity(user="alice")
EVERY_USER = Entity(user=None)
APP = Entity(client_id="app")
BOTH = Entity(user="alice", client_id="app")
ADDRESS = Entity(ip="10.0.0.1")
EVERYBODY = [ALICE, EVERY_USER, APP, BOTH, ADDRESS]


def component(kind: str, match_type: int, match: str | None = None) -> ComponentData:
    return ComponentData(entity_type=kind, match_type=match_type, match=match)


def found(*components: ComponentData, strict: bool = False) -> list[Entity]:
    asked = read_filter(components, strict=strict)
    assert isinstance(asked, Filter)
    matching = [it for it in EVERYBODY if asked.matches(it)]
    assert all(asked.may_match(*it.parts()) for it in matching)
    return matching


def code(*components: ComponentData) -> ErrorCode:
    answer = read_filter(components, strict=False)
    assert isinstance(answer, Refusal)
    return answer.code


def test_no_filter_finds_everybody_and_a_strict_one_nobody() -> None:
    assert found() == EVERYBODY
    assert found(strict=True) == []


def test_a_name_finds_whoever_has_it_and_a_strict_one_who_has_nothing_else() -> None:
    assert found(component("user", EXACT, "alice")) == [ALICE, BOTH]
    assert found(component("user", EXACT, "alice"), strict=True) == [ALICE]


def test_the_default_is_somebody_of_its_own() -> None:
    assert found(component("user", DEFAULT)) == [EVERY_USER]


def test_any_name_will_do() -> None:
    assert found(component("user", ANY)) == [ALICE, EVERY_USER, BOTH]
    assert found(component("user", ANY), component("client-id", ANY)) == [BOTH]
    assert found(component("ip", ANY)) == [ADDRESS]


def test_filters_that_make_no_sense_are_refused() -> None:
    user = component("user", ANY)
    assert code(user, user) is ErrorCode.INVALID_REQUEST
    assert code(component("", ANY)) is ErrorCode.INVALID_REQUEST
    assert code(component("group", ANY)) is ErrorCode.UNSUPPORTED_VERSION
    assert code(user, component("ip", ANY)) is ErrorCode.INVALID_REQUEST
    assert code(component("user", 7)) is ErrorCode.UNKNOWN_SERVER_ERROR
    assert code(component("user", EXACT, None)) is ErrorCode.UNKNOWN_SERVER_ERROR


def test_only_limits_are_shown_of_what_is_kept() -> None:
    kept = {"producer_byte_rate": "1024", "request_percentage": "1.0E7", "SCRAM-SHA-256": "x"}
    assert quotas_of(ALICE, kept) == {"producer_byte_rate": 1024.0, "request_percentage": 1e7}


def set_to(key: str, value: float) -> OpData:
    return OpData(key=key, value=value, remove=False)


def test_limits_are_kept_as_texts_of_their_kind() -> None:
    operations = [
        set_to("producer_byte_rate", 1024.0000001),
        set_to("request_percentage", 12.5),
        set_to("controller_mutation_rate", 1e7),
        OpData(key="consumer_byte_rate", value=0.0, remove=True),
    ]
    kept = {"consumer_byte_rate": "7", "SCRAM-SHA-256": "x"}
    assert decide_quotas(ALICE, kept, operations) == {
        "SCRAM-SHA-256": "x",
        "producer_byte_rate": "1024",
        "request_percentage": "12.5",
        "controller_mutation_rate": "1.0E7",
    }
    rate = [set_to("connection_creation_rate", 20.0)]
    assert decide_quotas(ADDRESS, {}, rate) == {"connection_creation_rate": "20"}


@pytest.mark.parametrize(
    ("entity", "key", "value", "code"),
    [
        (ALICE, "producer_byte_rate", 10.5, ErrorCode.INVALID_REQUEST),
        (ALICE, "producer_byte_rate", float("inf"), ErrorCode.INVALID_REQUEST),
        (ALICE, "consumer_byte_rate", float("nan"), ErrorCode.INVALID_REQUEST),
        (ALICE, "request_percentage", float("nan"), ErrorCode.INVALID_REQUEST),
        (ALICE, "connection_creation_rate", 1.0, ErrorCode.INVALID_REQUEST),
        (ADDRESS, "producer_byte_rate", 1.0, ErrorCode.INVALID_REQUEST),
        (ADDRESS, "connection_creation_rate", 2.0**31, ErrorCode.INVALID_REQUEST),
        (ADDRESS, "connection_creation_rate", -1.0, ErrorCode.INVALID_REQUEST),
        (ALICE, "SCRAM-SHA-256", 1.0, ErrorCode.INVALID_REQUEST),
    ],
)
def test_what_is_no_limit_is_refused(
    entity: Entity, key: str, value: float, code: ErrorCode
) -> None:
    refusal = decide_quotas(entity, {}, [set_to(key, value)])
    assert isinstance(refusal, Refusal)
    assert refusal.code is code
