"""All settings are listed with their defaults, and each says where it comes from."""

from __future__ import annotations

from odradek.kafka.admin.configs import config_entries, created_entries
from odradek.kafka.settings import Layers, Source, describe_broker, describe_topic
from odradek.kafka.settings.broker import BY_KEY
from odradek.kafka.settings.described import INTERNAL
from odradek.kafka.settings.topic import TOPIC_BY_KEY
from odradek.kafka.wire.codec import encode
from odradek.kafka.wire.messages.describe_configs import (
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from tests.kafka.settings.server_properties import read

LAYERS = Layers(read("log.retention.hours=48\nlog.segment.bytes=1000000\nssl.key.password=hush\n"))


def test_all_configs_of_a_topic_are_listed_with_their_defaults() -> None:
    entries = config_entries(describe_topic(LAYERS, {}), None, include_synonyms=True)
    assert {it.name for it in entries} == set(TOPIC_BY_KEY)
    values = {it.name: it.value for it in entries}
    assert values["cleanup.policy"] == "delete"
    assert values["max.message.bytes"] == "1048588"
    assert values["retention.ms"] == str(48 * 60 * 60 * 1000)
    assert all(it.value is not None for it in entries)


def test_all_configs_of_a_broker_are_listed() -> None:
    entries = config_entries(describe_broker(LAYERS), [], include_synonyms=False)
    assert {it.name for it in entries} >= set(BY_KEY) - INTERNAL
    assert all(it.synonyms == [] for it in entries)
    (password,) = (it for it in entries if it.name == "ssl.key.password")
    assert password.is_sensitive and password.value is None


def test_only_the_keys_that_were_asked_for_are_answered() -> None:
    keys = ["segment.bytes", "no.such.key"]
    overrides = {"segment.bytes": "5000"}
    entries = config_entries(describe_topic(LAYERS, overrides), keys, include_synonyms=True)
    (entry,) = entries
    assert (entry.name, entry.value, entry.config_source) == (keys[0], "5000", Source.TOPIC)
    assert [(it.name, it.value, it.source) for it in entry.synonyms] == [
        ("segment.bytes", "5000", Source.TOPIC),
        ("log.segment.bytes", "1000000", Source.STATIC_BROKER),
        ("log.segment.bytes", "1073741824", Source.DEFAULT),
    ]


def test_a_new_topic_is_told_all_its_settings() -> None:
    entries = created_entries(describe_topic(LAYERS, {"flush.ms": "7"}))
    sources = {it.name: it.config_source for it in entries}
    assert set(sources) == set(TOPIC_BY_KEY)
    assert sources["flush.ms"] == Source.TOPIC
    assert sources["segment.bytes"] == Source.STATIC_BROKER
    assert sources["segment.ms"] == Source.DEFAULT


def test_every_version_can_be_written() -> None:
    entries = config_entries(describe_broker(LAYERS), None, include_synonyms=True)
    result = DescribeConfigsResult(
        error_code=0, error_message=None, resource_type=4, resource_name="0", configs=entries
    )
    for version in range(5):
        encode(DescribeConfigsResponse(throttle_time_ms=0, results=[result]), version)
