"""Settings are altered for whom Kafka allows it, and refused with Kafka's codes."""

from __future__ import annotations

import pytest

from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.admin.resources import (
    OF_ALL_BROKERS,
    ResourceType,
    decide_resource,
    entity_path,
    refuse_entries,
    refuse_twice,
)
from odradek.kafka.settings.alterations import Operation
from odradek.kafka.settings.layers import Layers
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages import alter_configs as whole
from odradek.kafka.wire.messages import incremental_alter_configs as incremental
from tests.kafka.settings.server_properties import read

LAYERS = Layers(read("broker.id=7\npassword.encoder.secret=hush\n"))
TOPICS = ["orders"]
ONE = "brokers/7"
TOPIC = "topics/orders"
SECRET = "listener.name.plaintext.ssl.keystore.password"


def alteration(
    kind: int, name: str, *entries: tuple[str, int, str | None]
) -> incremental.AlterConfigsResource:
    return incremental.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            incremental.AlterableConfig(name=key, config_operation=code, value=value)
            for key, code, value in entries
        ],
    )


def replacement(kind: int, name: str, **texts: str | None) -> whole.AlterConfigsResource:
    return whole.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            whole.AlterableConfig(name=key.replace("_", "."), value=text)
            for key, text in texts.items()
        ],
    )


def code(answer: object) -> ErrorCode:
    assert isinstance(answer, Refusal), answer
    return answer.code


def path(kind: int, name: str) -> str | Refusal:
    return entity_path(alteration(kind, name), 7, TOPICS)


def test_topics_this_broker_and_all_brokers_have_settings() -> None:
    assert path(ResourceType.TOPIC, "orders") == TOPIC
    assert path(ResourceType.BROKER, "7") == ONE
    assert path(ResourceType.BROKER, "") == OF_ALL_BROKERS


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        (ResourceType.BROKER, "8", ErrorCode.INVALID_REQUEST),
        (ResourceType.BROKER, "seven", ErrorCode.INVALID_REQUEST),
        (ResourceType.TOPIC, "", ErrorCode.INVALID_REQUEST),
        (ResourceType.TOPIC, "nobody", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (ResourceType.CLIENT_METRICS, "m", ErrorCode.INVALID_REQUEST),
        (0, "", ErrorCode.INVALID_REQUEST),
        (99, "x", ErrorCode.INVALID_REQUEST),
    ],
)
def test_others_are_refused(kind: int, name: str, expected: ErrorCode) -> None:
    assert code(path(kind, name)) is expected


def test_a_resource_that_is_there_twice_is_refused_both_times() -> None:
    twice = [alteration(2, "a"), alteration(4, "a"), alteration(2, "a")]
    assert [it and it.code for it in refuse_twice(twice)] == [
        ErrorCode.INVALID_REQUEST,
        None,
        ErrorCode.INVALID_REQUEST,
    ]


def test_each_key_is_altered_once_by_a_known_operation_and_with_a_value() -> None:
    good = alteration(2, "orders", ("a", Operation.SET, "1"), ("b", Operation.DELETE, None))
    assert refuse_entries(good) is None
    for entries in (
        [("a", Operation.SET, "1"), ("a", Operation.SET, "2")],
        [("a", Operation.SET, None)],
        [("a", Operation.APPEND, None)],
        [("a", 4, "1")],
    ):
        assert code(refuse_entries(alteration(2, "orders", *entries))) is ErrorCode.INVALID_REQUEST
    assert code(refuse_entries(replacement(2, "orders", a=None))) is ErrorCode.INVALID_REQUEST


def test_a_topics_settings_change_one_by_one_or_all_at_once() -> None:
    kept = {"flush.ms": "1", "retention.ms": "2"}
    one = alteration(2, "orders", ("flush.ms", 0, "9"), ("cleanup.policy", 2, "compact"))
    assert decide_resource(one, TOPIC, kept, LAYERS) == {
        "flush.ms": "9",
        "retention.ms": "2",
        "cleanup.policy": "delete,compact",
    }
    other = replacement(2, "orders", segment_ms="5")
    assert decide_resource(other, TOPIC, kept, LAYERS) == {"segment.ms": "5"}


@pytest.mark.parametrize("entry", [("flush.ms", "soon"), ("no.such.key", "1")])
def test_a_topics_settings_must_be_right(entry: tuple[str, str]) -> None:
    key, value = entry
    wrong = alteration(2, "orders", (key, 0, value))
    refusal = decide_resource(wrong, TOPIC, {}, LAYERS)
    assert code(refusal) is ErrorCode.INVALID_CONFIG
    assert isinstance(refusal, Refusal) and refusal.message and key in refusal.message


def test_a_list_alone_can_grow() -> None:
    wrong = alteration(2, "orders", ("flush.ms", Operation.APPEND, "1"))
    assert code(decide_resource(wrong, TOPIC, {}, LAYERS)) is ErrorCode.INVALID_CONFIG


def test_a_brokers_settings_change_while_it_runs_if_they_may() -> None:
    good = alteration(4, "7", ("log.retention.ms", 0, "1000"))
    assert decide_resource(good, ONE, {"x": "1"}, LAYERS) == {"log.retention.ms": "1000", "x": "1"}
    fixed = alteration(4, "7", ("broker.rack", 0, "r"))
    assert code(decide_resource(fixed, ONE, {}, LAYERS)) is ErrorCode.INVALID_REQUEST
    wrong = alteration(4, "7", ("log.retention.ms", 0, "soon"))
    assert code(decide_resource(wrong, ONE, {}, LAYERS)) is ErrorCode.INVALID_REQUEST
    own = alteration(4, "", ("advertised.listeners", 0, "PLAINTEXT://h:1"))
    assert code(decide_resource(own, OF_ALL_BROKERS, {}, LAYERS)) is ErrorCode.INVALID_REQUEST


def test_what_another_broker_kept_need_not_be_usable() -> None:
    kept = {"log.retention.ms": "nonsense"}
    better = alteration(4, "7", ("log.retention.ms", 0, "1000"))
    assert decide_resource(better, ONE, kept, LAYERS) == {"log.retention.ms": "1000"}


def test_passwords_stay_until_somebody_speaks_of_them_and_none_is_written_in_the_clear() -> None:
    kept = {SECRET: "keyLength:128,and so on"}
    other = alteration(4, "7", ("log.retention.ms", 0, "1000"))
    assert decide_resource(other, ONE, kept, LAYERS) == {**kept, "log.retention.ms": "1000"}
    forgotten = alteration(4, "7", (SECRET, Operation.DELETE, None))
    assert decide_resource(forgotten, ONE, kept, LAYERS) == {}
    assert decide_resource(replacement(4, "7"), ONE, kept, LAYERS) == {}
    spoken = alteration(4, "7", (SECRET, Operation.SET, "hunter2"))
    refusal = decide_resource(spoken, ONE, kept, LAYERS)
    assert code(refusal) is ErrorCode.INVALID_REQUEST
    assert "hunter2" not in str(refusal)
