"""Every key of Kafka 3.9.2 is declared as Kafka declares it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from odradek.kafka.settings import TopicSettings
from odradek.kafka.settings.broker import BY_KEY, FIELDS
from odradek.kafka.settings.described import INTERNAL
from odradek.kafka.settings.dynamic import THROTTLES, update_mode
from odradek.kafka.settings.synonyms import BROKER_KEYS
from odradek.kafka.settings.texts import text_of
from odradek.kafka.settings.topic import TOPIC_BY_KEY, TOPIC_FIELDS
from odradek.runtime.declarations import Declaration
from tests.kafka.settings.server_properties import read, table

BROKER_ROWS = table("kafka-configs.txt", "broker")
TOPIC_ROWS = table("kafka-configs.txt", "topic")
THROTTLE_ROWS = table("kafka-configs.txt", "quota")[:3]
DYNAMIC_ROWS = table("kafka-configs.txt", "dynamically")
ROWS = [
    *((BY_KEY.get(row[0]), row) for row in BROKER_ROWS),
    *((TOPIC_BY_KEY.get(row[0]), row) for row in TOPIC_ROWS),
    *((THROTTLES.get(row[0]), row) for row in THROTTLE_ROWS),
]

AT_LEAST = re.compile(r"\[([-\d.]+),\.\.\.\]")
BETWEEN = re.compile(r"\[([-\d.]+),\.\.\.,([-\d.]+)\]( or -1)?")
ONE_OF = re.compile(r"(\(case insensitive\) )?\[(\w+(?:, \w+)*)\]")


def good_and_bad(valid: str) -> tuple[list[str], list[str]]:
    """Texts at the edges of what a table calls valid: inside, and just outside."""
    if match := BETWEEN.fullmatch(valid):
        low, high = float(match[1]), float(match[2])
        return (
            [plain(low), plain(high), *(["-1"] if match[3] else [])],
            [plain(low - 1), plain(high + 1)],
        )
    if match := AT_LEAST.fullmatch(valid):
        return [match[1]], [plain(float(match[1]) - 1)]
    if match := ONE_OF.fullmatch(valid):
        words = match[2].split(", ")
        return [*words, *(map(str.lower, words) if match[1] else [])], [words[0] + "x"]
    if valid.startswith("The default value of -1"):
        return ["-1", "1"], ["0", "-2"]
    return {
        "(metadata/IBP version text, 0.8.0 … 3.9-IV0)": (["0.8.0", "3.9"], ["4.0", "junk", ""]),
        "non-empty string": (["x"], [""]),
        "non-empty list": (["1@a:1"], []),
        "non-null string": (["", "x"], []),
        "[partitionId]:[brokerId],[partitionId]:[brokerId],...": (["*", "0:1,2:3"], ["x", "0"]),
        "-": ([], []),
    }[valid]


def plain(number: float) -> str:
    return str(int(number)) if number == int(number) else str(number)


def refusals(declaration: Declaration, texts: list[str]) -> Iterator[str]:
    for text in texts:
        try:
            declaration.kind.read(text)
        except ValueError:
            yield text


def test_the_tables_have_every_key_and_so_have_we() -> None:
    assert (len(BROKER_ROWS), len(TOPIC_ROWS)) == (329, 36)
    assert BY_KEY.keys() == {row[0] for row in BROKER_ROWS}
    assert TOPIC_BY_KEY.keys() == {row[0] for row in TOPIC_ROWS}
    assert THROTTLES.keys() == {row[0] for row in THROTTLE_ROWS}


@pytest.mark.parametrize(("declaration", "row"), ROWS, ids=[row[0] for _, row in ROWS])
def test_a_key_has_the_type_the_default_and_the_limits_of_kafka(
    declaration: Declaration, row: list[str]
) -> None:
    _, type_, default, valid = row[:4]
    assert declaration.kind.name == type_
    assert text_of(declaration.default) == (None if default == "null" else default.strip('"'))
    good, bad = good_and_bad(valid)
    assert list(refusals(declaration, good)) == []
    assert list(refusals(declaration, bad)) == bad


def test_a_key_can_be_changed_as_it_can_in_kafka() -> None:
    assert {row[0]: row[5] for row in BROKER_ROWS} == {
        key: update_mode(key).value for key in BY_KEY
    }
    assert {row[0]: row[1] for row in DYNAMIC_ROWS} == {
        key: mode for key in BY_KEY if (mode := update_mode(key).value) != "read-only"
    }


def test_what_kafka_keeps_to_itself_is_known() -> None:
    assert {row[0] for row in BROKER_ROWS if row[-1] == "internal"} == INTERNAL


def test_a_topics_key_has_the_brokers_key_that_means_the_same() -> None:
    assert {row[0]: row[5] for row in TOPIC_ROWS if row[5] != "-"} == BROKER_KEYS


def test_a_field_is_named_like_its_key() -> None:
    for key, name in [*FIELDS.items(), *TOPIC_FIELDS.items()]:
        words = re.sub("[A-Z]", lambda it: "_" + it[0].lower(), key).replace(".", "_")
        assert name.removeprefix("given_") == words


def test_a_given_field_has_a_property_that_says_what_is_used() -> None:
    broker, topic = read(), TopicSettings.of_broker(read())
    for settings, fields in ((broker, FIELDS), (topic, TOPIC_FIELDS)):
        for name in fields.values():
            if name.startswith("given_") and name != "given_node_id":
                assert hasattr(settings, name.removeprefix("given_")), name


def test_topics_begin_with_the_defaults_of_kafka() -> None:
    settings = TopicSettings.of_broker(read())
    for row in TOPIC_ROWS:
        assert text_of(getattr(settings, TOPIC_FIELDS[row[0]])) == row[2].strip('"'), row[0]
