"""A topic has its own settings, and for the rest those of the broker."""

from __future__ import annotations

import pytest

from odradek.kafka.settings import CompressionType, Layers, TopicSettings
from odradek.runtime.declarations import HOUR_MS
from odradek.runtime.settings import SettingsRefused
from tests.kafka.settings.server_properties import read


def topic(overrides: dict[str, str], file: str = "") -> TopicSettings:
    return Layers(read(file)).topics.overridden(overrides, "t")


def test_a_topic_says_it_louder_than_the_broker() -> None:
    file = "log.segment.bytes=1000\nlog.retention.hours=2\nlog.roll.hours=3\n"
    settings = topic({"segment.bytes": "500", "compression.type": "lz4"}, file)
    assert settings.segment_bytes == 500
    assert settings.retention_ms == 2 * HOUR_MS
    assert settings.segment_ms == 3 * HOUR_MS
    assert settings.compression_type is CompressionType.LZ4


def test_topics_of_which_nothing_is_said_share_one_object() -> None:
    defaults = Layers(read()).topics
    assert defaults.overridden({}) is defaults
    assert defaults.overridden({"retention.ms": "1"}) is not defaults
    assert defaults.retention_ms == 168 * HOUR_MS


def test_the_cleanup_policy_may_be_both_or_neither() -> None:
    both = topic({"cleanup.policy": "compact,delete"})
    assert (both.is_compacted, both.is_deleted) == (True, True)
    neither = topic({"cleanup.policy": ""})
    assert (neither.is_compacted, neither.is_deleted) == (False, False)


def test_the_older_limit_of_timestamps_counts_where_the_newer_says_nothing() -> None:
    settings = topic(
        {"message.timestamp.difference.max.ms": "5", "message.timestamp.after.max.ms": "7"}
    )
    assert settings.message_timestamp_before_max_ms == 5
    assert settings.message_timestamp_after_max_ms == 7


def test_all_that_is_wrong_with_a_topic_is_said_at_once() -> None:
    with pytest.raises(SettingsRefused) as caught:
        topic({"segment.bytes": "1", "preallocate": "maybe"})
    assert [str(it) for it in caught.value.problems] == [
        "topic t: segment.bytes='1': must be at least 14",
        "topic t: preallocate='maybe': must be true or false",
    ]
    with pytest.raises(SettingsRefused, match=r"must not exceed max\.compaction\.lag\.ms"):
        topic({"min.compaction.lag.ms": "5", "max.compaction.lag.ms": "4"})


def test_what_was_said_since_counts_more_than_the_file() -> None:
    file = read("log.retention.hours=2\nlog.segment.bytes=1000\nmin.insync.replicas=3\n")
    layers = Layers(
        file,
        of_all={"log.retention.ms": "5", "log.segment.bytes": "2000"},
        of_one={"log.retention.ms": "6"},
    )
    assert layers.broker.log_retention_ms == layers.topics.retention_ms == 6
    assert layers.topics.segment_bytes == 2000
    assert layers.topics.min_insync_replicas == 3
    assert layers.file.log_segment_bytes == 1000


def test_a_time_in_one_unit_hides_the_same_in_another() -> None:
    layers = Layers(read("log.retention.minutes=2\n"), of_all={"log.retention.ms": "5"})
    assert layers.broker.log_retention_minutes is None
    assert Layers(layers.file).broker is layers.file
