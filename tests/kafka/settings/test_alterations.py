"""Settings are altered, or refused, as Apache Kafka does it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from odradek.kafka.settings import (
    INVALID_CONFIG,
    INVALID_REQUEST,
    Alteration,
    Layers,
    Operation,
    Refused,
    decide_broker_alterations,
    decide_broker_settings,
    decide_topic_alterations,
    decide_topic_settings,
    usable,
)
from tests.kafka.settings.apache import BEFORE, OF_ALL, OF_ONE, TOPIC_AFTER, TOPIC_BEFORE
from tests.kafka.settings.server_properties import read, table

CODES = {"INVALID_CONFIG": INVALID_CONFIG, "INVALID_REQUEST": INVALID_REQUEST}

# There are no classes to look for here, and we check a listener's number sooner.
JUDGED_OTHERWISE = {
    ("metric.reporters", "a.B"),
    ("principal.builder.class", "a.B"),
    ("listener.name.plaintext.max.connections", "x"),
}


def refusal(outcome: dict[str, str] | Refused) -> Refused:
    assert isinstance(outcome, Refused)
    return outcome


def alter_topic(
    operation: Operation, key: str, value: str | None, current: dict[str, str] | None = None
) -> dict[str, str] | Refused:
    return decide_topic_alterations(BEFORE, current or {}, [Alteration(key, operation, value)])


def test_a_row_of_alterations_ends_where_it_ends_with_apache() -> None:
    layers, topic = BEFORE, dict(TOPIC_BEFORE)
    for expected, who, operation, key, value in table("alterations.txt"):
        if (key, value) in JUDGED_OTHERWISE:
            continue
        alteration = Alteration(key, Operation[operation], value)
        if who == "TOPIC t":
            outcome = decide_topic_alterations(layers, topic, [alteration])
            topic = topic if isinstance(outcome, Refused) else outcome
        else:
            is_of_all = who == "BROKER"
            outcome = decide_broker_alterations(layers, [alteration], is_of_all=is_of_all)
            layers = layers if isinstance(outcome, Refused) else changed(layers, outcome, is_of_all)
        code = outcome.code if isinstance(outcome, Refused) else None
        assert code == CODES.get(expected), (who, operation, key, value, outcome)
    assert layers.of_all == {**OF_ALL, "listener.name.plaintext.max.connections": "41"}
    assert layers.of_one == OF_ONE
    assert topic == {**TOPIC_AFTER, "flush.ms": "5"}


def changed(layers: Layers, texts: dict[str, str], is_of_all: bool) -> Layers:
    return replace(layers, of_all=texts) if is_of_all else replace(layers, of_one=texts)


def test_a_list_grows_by_what_it_lacks_and_shrinks_by_what_it_has() -> None:
    grown = alter_topic(Operation.APPEND, "cleanup.policy", "compact,delete")
    assert grown == {"cleanup.policy": "delete,compact"}
    assert isinstance(grown, dict)
    shrunk = alter_topic(Operation.SUBTRACT, "cleanup.policy", "delete,other", grown)
    assert shrunk == {"cleanup.policy": "compact"}


def test_only_a_list_can_be_appended_to() -> None:
    for key in ("retention.ms", "nonsense"):
        refused = refusal(alter_topic(Operation.APPEND, key, "1"))
        assert refused.code == INVALID_CONFIG
        assert refused.message == f"{key} is not a list: it can only be set or deleted"


def test_what_is_not_there_can_be_deleted() -> None:
    assert alter_topic(Operation.DELETE, "retention.ms", None) == {}


def test_null_is_no_value_and_a_key_comes_once() -> None:
    assert refusal(alter_topic(Operation.SET, "retention.ms", None)) == Refused(
        INVALID_REQUEST, "null is no value for retention.ms"
    )
    twice = [Alteration("retention.ms", Operation.SET, "1")] * 2
    assert refusal(decide_topic_alterations(BEFORE, {}, twice)).code == INVALID_REQUEST


def test_a_refusal_names_every_bad_value_of_a_topic() -> None:
    texts = {"retention.ms": "x", "segment.bytes": "13", "flush.ms": "1"}
    assert refusal(decide_topic_settings(BEFORE, texts)).message == (
        "segment.bytes='13': must be at least 14; retention.ms='x': "
        "must be a whole number from -9223372036854775808 to 9223372036854775807"
    )


def test_a_topics_unknown_key_is_refused_with_the_one_that_may_be_meant() -> None:
    assert refusal(decide_topic_settings(BEFORE, {"retention.mss": "1"})) == Refused(
        INVALID_CONFIG, "retention.mss is no setting of a topic; is retention.ms meant?"
    )


@pytest.mark.parametrize(
    ("key", "text", "is_of_all", "message"),
    [
        ("num.partitions", "5", False, "num.partitions cannot be changed while the broker runs"),
        (
            "ssl.key.password",
            "hunter2",
            False,
            "ssl.key.password can be changed for one listener only: "
            "listener.name.<listener>.ssl.key.password",
        ),
        ("listeners", "X://:1", True, "listeners cannot be the same for all brokers: name one"),
        (
            "num.io.threads",
            "17",
            False,
            "num.io.threads can be halved or doubled at most, and is 8",
        ),
        (
            "log.cleaner.dedupe.buffer.size",
            "5",
            True,
            "log.cleaner.dedupe.buffer.size: must be more than 1 MiB for each cleaner thread",
        ),
        (
            "listener.security.protocol.map",
            "PLAINTEXT:SSL",
            False,
            "the security protocol of listener PLAINTEXT cannot be changed while it is open",
        ),
        (
            "listener.name.plaintext.connections.max.idle.ms",
            "1",
            False,
            "the options of listener PLAINTEXT cannot be changed while it is open",
        ),
        (
            "log.local.retention.ms",
            "172800001",
            False,
            "log.local.retention.ms must not exceed log.retention.ms, 172800000",
        ),
    ],
)
def test_a_broker_says_why_a_setting_stays(
    key: str, text: str, is_of_all: bool, message: str
) -> None:
    outcome = decide_broker_settings(BEFORE, {key: text}, is_of_all=is_of_all)
    assert outcome == Refused(INVALID_REQUEST, message)


def test_what_cannot_be_used_of_what_was_kept_is_left_out_and_named() -> None:
    texts = {"log.retention.ms": "5", "num.partitions": "5", "listeners": "X://:1", "plugin": "x"}
    good, reasons = usable(texts, read(), is_of_all=True)
    assert good == {"log.retention.ms": "5", "plugin": "x"}
    assert reasons == [
        "num.partitions cannot be changed while the broker runs",
        "listeners cannot be the same for all brokers: name one",
    ]


def test_a_password_is_not_kept_without_the_secret_that_encrypts_it() -> None:
    layers = Layers(read("broker.id=1\n"))
    key = "listener.name.plaintext.ssl.key.password"
    refused = refusal(decide_broker_settings(layers, {key: "hunter2"}, is_of_all=False))
    assert refused.message.endswith("without password.encoder.secret none is kept")
    assert "hunter2" not in refused.message
    assert decide_broker_settings(BEFORE, {key: "hunter2"}, is_of_all=False) == {key: "hunter2"}
    assert "hunter2" not in repr(Alteration(key, Operation.SET, "hunter2"))
