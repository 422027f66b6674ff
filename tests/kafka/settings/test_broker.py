"""A real server.properties, read as it is: typed, checked, and refused whole."""

from __future__ import annotations

import pytest

from odradek.kafka.settings import BrokerSettings, CompressionType, TimestampType
from odradek.kafka.settings.broker import BY_KEY
from odradek.kafka.settings.without_effect import OF_THE_JVM, WITHOUT_EFFECT_YET
from odradek.runtime.declarations import HOUR_MS, MINUTE_MS
from odradek.runtime.secret import Secret
from tests.kafka.settings.server_properties import SAMPLE, read, refused


def test_the_sample_that_everybody_starts_from_is_read_without_a_warning() -> None:
    settings = read(SAMPLE)
    assert settings.broker_id == 0
    assert settings.log_dirs == ("/tmp/kafka-logs",)
    assert settings.log_retention_ms == 168 * HOUR_MS
    assert settings.zookeeper_connect == "localhost:2181"
    assert settings.zookeeper_connection_timeout_ms == 18_000
    assert [str(it) for it in settings.listeners] == ["PLAINTEXT://:9092"]
    assert settings.advertised_listeners == settings.listeners
    assert not settings.warnings


def test_an_empty_file_is_enough() -> None:
    settings = read()
    assert settings.broker_id is None
    assert settings.zookeeper_connect is None
    assert settings.compression_type is CompressionType.PRODUCER
    assert settings.log_message_timestamp_type is TimestampType.CREATE_TIME
    assert repr(settings) == "BrokerSettings()"


@pytest.mark.parametrize(
    ("text", "retention_ms"),
    [
        ("log.retention.hours=2", 2 * HOUR_MS),
        ("log.retention.hours=2\nlog.retention.minutes=3", 3 * MINUTE_MS),
        ("log.retention.hours=2\nlog.retention.minutes=3\nlog.retention.ms=4", 4),
        ("log.retention.minutes=-1", -1),
        ("log.retention.ms=-5", -1),
    ],
)
def test_the_smallest_unit_of_a_retention_counts(text: str, retention_ms: int) -> None:
    assert read(text).log_retention_ms == retention_ms


@pytest.mark.parametrize(
    ("field", "text", "value"),
    [
        ("log_roll_ms", "log.roll.hours=2", 2 * HOUR_MS),
        ("log_roll_ms", "log.roll.hours=2\nlog.roll.ms=5", 5),
        ("log_roll_jitter_ms", "log.roll.jitter.hours=2", 2 * HOUR_MS),
        ("log_roll_jitter_ms", "log.roll.jitter.hours=2\nlog.roll.jitter.ms=5", 5),
        ("log_flush_interval_ms", "log.flush.scheduler.interval.ms=7", 7),
        ("log_flush_interval_ms", "log.flush.scheduler.interval.ms=7\nlog.flush.interval.ms=6", 6),
        ("log_dirs", "log.dir=/a", ("/a",)),
        ("log_dirs", "log.dir=/a\nlog.dirs=/b , /c,", ("/b", "/c")),
        ("num_replica_alter_log_dirs_threads", "log.dirs=/b,/c", 2),
        ("num_replica_alter_log_dirs_threads", "num.replica.alter.log.dirs.threads=9", 9),
        ("zookeeper_connection_timeout_ms", "zookeeper.session.timeout.ms=5", 5),
        ("zookeeper_connection_timeout_ms", "zookeeper.connection.timeout.ms=6", 6),
        ("zookeeper_connect", "zookeeper.connect=", None),
        ("broker_id", "node.id=4", 4),
        ("given_node_id", "broker.id=4", 4),
        ("remote_log_manager_copier_thread_pool_size", "remote.log.manager.thread.pool.size=4", 4),
        ("remote_log_manager_expiration_thread_pool_size", "", 10),
        ("log_message_timestamp_before_max_ms", "log.message.timestamp.difference.max.ms=4", 4),
        (
            "log_message_timestamp_after_max_ms",
            "log.message.timestamp.difference.max.ms=4\nlog.message.timestamp.after.max.ms=5",
            5,
        ),
        (
            "max_connections_per_ip_overrides",
            "max.connections.per.ip.overrides=::1:5, h:3",
            {"::1": 5, "h": 3},
        ),
    ],
)
def test_what_is_not_given_falls_back(field: str, text: str, value: object) -> None:
    assert getattr(read(text), field) == value


def test_everything_wrong_is_said_at_once_with_file_line_key_value_and_reason() -> None:
    assert refused(
        "broker.id=one\n"
        "log.segment.bytes=13\n"
        "log.cleanup.policy=compact,shrink\n"
        "compression.type=zip\n"
        "listeners=PLAINTEXT:9092\n"
        "listener.security.protocol.map=A:TLS\n"
        "log.preallocate=yes\n"
        "inter.broker.protocol.version=4.0\n"
        "max.connections.per.ip.overrides=here\n"
        "process.roles=king\n"
    ) == [
        "server.properties:1: broker.id='one': "
        "must be a whole number from -2147483648 to 2147483647",
        "server.properties:2: log.segment.bytes='13': must be at least 14",
        "server.properties:3: log.cleanup.policy='compact,shrink': "
        "must be a list of compact, delete",
        "server.properties:4: compression.type='zip': "
        "must be one of uncompressed, zstd, lz4, snappy, gzip, producer",
        "server.properties:5: listeners='PLAINTEXT:9092': must be a list of NAME://host:port",
        "server.properties:6: listener.security.protocol.map='A:TLS': "
        "must be one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL",
        "server.properties:7: log.preallocate='yes': must be true or false",
        "server.properties:8: inter.broker.protocol.version='4.0': "
        "must be a version from 0.8.0 to 3.9-IV0",
        "server.properties:9: max.connections.per.ip.overrides='here': "
        "must be a list of host:count, such as 127.0.0.1:10",
        "server.properties:10: process.roles='king': must be a list of broker, controller",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "broker.id=1001",
            ":1: broker.id='1001': must be from -1 to reserved.broker.max.id, which is 1000",
        ),
        (
            "broker.id.generation.enable=false",
            ": broker.id: must be at least 0 if broker.id.generation.enable is false",
        ),
        (
            "process.roles=broker",
            ":1: process.roles='broker': "
            "asks for KRaft, but Odradek keeps its metadata in ZooKeeper",
        ),
        (
            "log.retention.hours=0",
            ":1: log.retention.hours='0': must be at least 1, or -1 for ever",
        ),
        (
            "group.share.session.timeout.ms=70000",
            ":1: group.share.session.timeout.ms='70000': must be from "
            "group.share.min.session.timeout.ms to group.share.max.session.timeout.ms, "
            "45000 to 60000",
        ),
        (
            "inter.broker.protocol.version=0.10.2",
            ": log.message.format.version: cannot be 3.0-IV1 where "
            "inter.broker.protocol.version is 0.10.2",
        ),
    ],
)
def test_values_that_cannot_be_used_together_are_refused(text: str, problem: str) -> None:
    assert refused(text) == [f"server.properties{problem}"]


def test_passwords_are_never_shown() -> None:
    text = "ssl.key.password=hunter1\nlistener.name.a.ssl.key.password=hunter2\n"
    settings = read(text + "sasl.jaas.config=hunter3\npassword.encoder.secret=hunter4\n")
    assert settings.ssl_key_password == Secret("hunter1")
    shown = repr(settings) + repr(settings.properties) + repr(settings.listener_options)
    assert "hunter" not in shown
    assert "hunter" not in "".join(map(str, [*settings.warnings, *settings.without_effect]))
    wrong = "listener.name.plaintext.ssl.key.password=hunter5\nbroker.id=-2\n"
    assert "hunter" not in "".join(refused(wrong))


def test_what_has_no_effect_is_named_where_it_is_given() -> None:
    assert [str(it) for it in read(SAMPLE).without_effect] == [
        f"server.properties:{line}: {key}: has no effect{why}"
        for line, key, why in [
            (5, "num.network.threads", ": it steers the inside of a JVM"),
            (6, "num.io.threads", ": it steers the inside of a JVM"),
            (12, "num.recovery.threads.per.data.dir", ": it steers the inside of a JVM"),
        ]
    ]


def test_what_has_no_effect_is_a_key_or_the_beginning_of_one() -> None:
    for name in WITHOUT_EFFECT_YET | OF_THE_JVM:
        begins = [key for key in BY_KEY if key.startswith(name)]
        assert begins if name.endswith(".") else name in BY_KEY, name


def test_an_unknown_key_is_warned_about_by_name() -> None:
    assert [str(it) for it in read("log.segment.byte=1\nport=9092\n").warnings] == [
        "server.properties:1: log.segment.byte: unknown, not used; is log.segment.bytes meant?",
        "server.properties:2: port: unknown, not used",
    ]


def test_a_relative_or_repeated_directory_is_warned_about() -> None:
    assert [str(it) for it in read("log.dirs=a,/b,/b").warnings] == [
        "server.properties:1: log.dirs: is relative to the directory that the broker is started in",
        "server.properties:1: log.dirs: names a directory twice",
    ]


def test_settings_do_not_change() -> None:
    settings: BrokerSettings = read()
    with pytest.raises(AttributeError):
        settings.num_partitions = 2


def test_the_format_of_records_is_fixed_from_3_0_on() -> None:
    assert read("log.message.format.version=0.10.0").log_message_format_version.text == "3.0-IV1"
    old = read("log.message.format.version=0.10.0\ninter.broker.protocol.version=2.8")
    assert old.log_message_format_version.record_version == 1
    assert old.inter_broker_protocol_version.text == "2.8-IV1"
