"""Settings are described as Apache Kafka describes them, down to the last synonym."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from odradek.kafka.settings import (
    ConfigType,
    Described,
    Layers,
    Source,
    describe_all_brokers,
    describe_broker,
    describe_topic,
)
from tests.kafka.settings.apache import AFTER, BEFORE, FILE, TOPIC_AFTER, TOPIC_BEFORE
from tests.kafka.settings.server_properties import read, table


def rows(described: Iterable[Described]) -> list[list[str]]:
    """As the table writes them."""
    return sorted(
        [
            it.key,
            str(it.value).replace("None", "null"),
            it.source.name,
            "sensitive" if it.is_sensitive else "-",
            "read-only" if it.is_read_only else "-",
            it.type.name,
            " ; ".join(
                f"{synonym.source.name}:{synonym.key}={written(synonym.value)}"
                for synonym in it.synonyms
            ),
        ]
        for it in described
    )


def written(value: str | None) -> str:
    return "null" if value is None else value


@pytest.mark.parametrize(
    ("section", "described"),
    [
        ("broker before", describe_broker(BEFORE)),
        ("topic before", describe_topic(BEFORE, TOPIC_BEFORE)),
        ("broker after", describe_broker(AFTER)),
        ("default after", describe_all_brokers(AFTER)),
        ("topic after", describe_topic(AFTER, TOPIC_AFTER)),
    ],
    ids=str,
)
def test_every_setting_is_shown_as_apache_shows_it(
    section: str, described: Iterable[Described]
) -> None:
    assert rows(described) == sorted(table("described.txt", section))


def test_nothing_was_said_of_all_brokers_at_first() -> None:
    assert list(describe_all_brokers(BEFORE)) == []


def test_numbers_that_travel_are_those_of_the_protocol() -> None:
    assert [(it.name, it.value) for it in Source][1:6] == [
        ("TOPIC", 1),
        ("DYNAMIC_BROKER", 2),
        ("DYNAMIC_DEFAULT_BROKER", 3),
        ("STATIC_BROKER", 4),
        ("DEFAULT", 5),
    ]
    assert [it.name for it in sorted(ConfigType)] == [
        *("UNKNOWN", "BOOLEAN", "STRING", "INT", "SHORT"),
        *("LONG", "DOUBLE", "LIST", "CLASS", "PASSWORD"),
    ]


def test_no_password_is_ever_described() -> None:
    file = read(FILE + "ssl.keystore.password=hunter3\nlistener.name.x.ssl.key.password=hunter4\n")
    layers = Layers(file, {}, {"listener.name.plaintext.ssl.key.password": "hunter5"})
    assert "hunter" not in repr([*describe_broker(layers), *describe_topic(layers, {})])
    assert "hunter" not in repr(layers)


def test_a_value_is_shown_as_it_was_understood() -> None:
    layers = Layers(read("log.preallocate= TRUE\nlog.cleanup.policy=compact , delete\n"))
    shown = {it.key: it.value for it in describe_broker(layers)}
    assert shown["log.preallocate"] == "true"
    assert shown["log.cleanup.policy"] == "compact,delete"
