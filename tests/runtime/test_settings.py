"""Settings: read whole, or refused with everything that is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from odradek.runtime.declarations import HOUR_MS, MINUTE_MS, Alias, prefixed, setting
from odradek.runtime.kinds import DOUBLE, INT, LIST, LONG, PASSWORD, STRING
from odradek.runtime.properties import Properties
from odradek.runtime.secret import Secret
from odradek.runtime.settings import Settings, SettingsRefused


class LogSettings(Settings):
    log_segment_bytes: int = setting("log.segment.bytes", INT.at_least(14), default=1 << 30)
    log_cleanup_policy: tuple[str, ...] = setting(
        "log.cleanup.policy", LIST.items_of("compact", "delete"), default=("delete",)
    )
    log_retention_ms: int = setting(
        "log.retention.ms",
        LONG,
        default=168 * HOUR_MS,
        otherwise=[
            Alias("log.retention.minutes", INT, times=MINUTE_MS),
            Alias("log.retention.hours", INT, times=HOUR_MS),
        ],
    )


class BrokerSettings(LogSettings):
    broker_id: int = setting("broker.id", INT, default=-1, otherwise=[Alias("node.id")])
    broker_rack: str | None = setting("broker.rack", STRING, default=None)
    zookeeper_connect: str = setting("zookeeper.connect", STRING)
    cleanable_ratio: float = setting(
        "log.cleaner.min.cleanable.ratio", DOUBLE.between(0, 1), default=0.5
    )
    key_password: Secret | None = setting("ssl.key.password", PASSWORD, default=None)
    listener_overrides: Mapping[str, Secret] = prefixed("listener.name.", PASSWORD)

    def disagreements(self) -> Iterator[tuple[str, str]]:
        if self.key_password and len(self.key_password.reveal()) < 6:
            yield "ssl.key.password", "must have six characters"
        if self.broker_rack == "" and self.broker_id == -1:
            yield "broker.id", "must be given with an empty rack"


class EnsembleSettings(Settings):
    tick_time: int = setting("tickTime", INT.at_least(1), default=3000)
    data_directory: str = setting("dataDir", STRING)
    servers: Mapping[int, str] = prefixed("server.", STRING, names=INT)
    metrics_provider: str | None = setting("metricsProvider.className", STRING, default=None)
    metrics: Mapping[str, str] = prefixed("metricsProvider.", STRING)


def read(text: str) -> BrokerSettings:
    return BrokerSettings(Properties.parse(text.encode(), "server.properties"))


def refused(text: str) -> list[str]:
    with pytest.raises(SettingsRefused) as caught:
        read(text)
    return [str(problem) for problem in caught.value.problems]


def test_what_is_not_given_has_its_default() -> None:
    settings = read("zookeeper.connect=zk:2181")
    assert settings.zookeeper_connect == "zk:2181"
    assert settings.log_segment_bytes == 1073741824
    assert settings.log_cleanup_policy == ("delete",)
    assert settings.broker_rack is None
    assert settings.listener_overrides == {}
    assert not settings.warnings


def test_blanks_around_a_value_do_not_count() -> None:
    assert read("zookeeper.connect=zk\nlog.segment.bytes= 100 \t").log_segment_bytes == 100


@pytest.mark.parametrize(
    ("text", "retention_ms"),
    [
        ("", 604_800_000),
        ("log.retention.hours=2", 7_200_000),
        ("log.retention.minutes=3\nlog.retention.hours=2", 180_000),
        ("log.retention.hours=2\nlog.retention.ms=5", 5),
        ("log.retention.hours=-1", -1),
        ("log.retention.ms=0\nlog.retention.hours=2", 0),
    ],
)
def test_the_finest_of_several_keys_wins(text: str, retention_ms: int) -> None:
    assert read("zookeeper.connect=zk\n" + text).log_retention_ms == retention_ms


def test_everything_wrong_is_said_at_once_with_file_line_key_value_and_reason() -> None:
    with pytest.raises(SettingsRefused) as caught:
        read(
            "log.segment.bytes=13\n"
            "log.cleanup.policy=compact,drop\n"
            "broker.id=one\n"
            "log.retention.ms=1\n"
            "log.retention.hours=soon\n"
            "path=\\user\n"
        )
    assert str(caught.value).splitlines() == [
        "these settings cannot be used:",
        "  server.properties:1: log.segment.bytes='13': must be at least 14",
        "  server.properties:2: log.cleanup.policy='compact,drop': "
        "must be a list of compact, delete",
        "  server.properties:3: broker.id='one': "
        "must be a whole number from -2147483648 to 2147483647",
        "  server.properties:5: log.retention.hours='soon': "
        "must be a whole number from -2147483648 to 2147483647",
        r"  server.properties:6: path: \u wants four hexadecimal digits; "
        r"a backslash itself is written \\",
        "  server.properties: zookeeper.connect: is required, but not given",
    ]


def test_a_required_key_on_a_broken_line_is_not_called_missing() -> None:
    (problem,) = refused("zookeeper.connect=\\uxyz")
    assert "hexadecimal" in problem


def test_values_are_checked_against_each_other_once_each_is_good() -> None:
    assert refused("zookeeper.connect=zk\nssl.key.password=short\nbroker.rack=") == [
        "server.properties:2: ssl.key.password=[hidden]: must have six characters",
        "server.properties: broker.id: must be given with an empty rack",
    ]
    assert len(refused("ssl.key.password=short")) == 1


def test_an_unknown_key_is_a_warning_by_name_and_never_by_value() -> None:
    settings = read("zookeeper.connect=zk\nlog.segment.byte=1\nssl.key.pasword=hunter2\nx=1")
    assert [str(warning) for warning in settings.warnings] == [
        "server.properties:2: log.segment.byte: unknown, not used; is log.segment.bytes meant?",
        "server.properties:3: ssl.key.pasword: unknown, not used; is ssl.key.password meant?",
        "server.properties:4: x: unknown, not used",
    ]


def test_passwords_are_not_shown_by_the_settings_that_hold_them() -> None:
    settings = read("zookeeper.connect=zk\nssl.key.password=hunter2\nlistener.name.a.k=hunter3")
    assert settings.key_password is not None
    assert settings.key_password.reveal() == "hunter2"
    assert settings.listener_overrides["a.k"].reveal() == "hunter3"
    assert repr(settings) == ("BrokerSettings(zookeeper.connect='zk', ssl.key.password=[hidden])")


def test_keys_with_a_variable_part_are_read_by_their_names() -> None:
    text = (
        "tickTime=2000\ndataDir=/data\n"
        "server.1=zk1:2888:3888;2181\nserver.2 = zk2:2888:3888:observer\n"
        "metricsProvider.className=Prometheus\nmetricsProvider.httpPort=7000\n"
    )
    settings = EnsembleSettings(Properties.parse(text.encode(), "zoo.cfg"))
    assert settings.servers == {1: "zk1:2888:3888;2181", 2: "zk2:2888:3888:observer"}
    assert settings.metrics_provider == "Prometheus"
    assert settings.metrics == {"httpPort": "7000"}
    assert not settings.warnings


def test_a_bad_variable_part_is_refused() -> None:
    properties = Properties.parse(b"dataDir=/data\nserver.one=zk1\n", "zoo.cfg")
    with pytest.raises(SettingsRefused, match=r"zoo\.cfg:2: server\.one: what follows 'server\.' "):
        EnsembleSettings(properties)


def test_a_part_of_the_keys_can_be_read_as_settings_of_its_own() -> None:
    text = "zookeeper.connect=zk\nlistener.name.internal.log.segment.bytes=1"
    properties = Properties.parse(text.encode(), "server.properties")
    with pytest.raises(SettingsRefused) as caught:
        LogSettings(properties.under("listener.name.internal."))
    (problem,) = caught.value.problems
    assert problem.key == "listener.name.internal.log.segment.bytes"
    assert problem.line == 2


def test_settings_do_not_change() -> None:
    settings = read("zookeeper.connect=zk")
    with pytest.raises(AttributeError, match="do not change"):
        settings.broker_id = 5


def test_a_class_tells_what_can_be_set() -> None:
    declared = BrokerSettings.declared["log_retention_ms"]
    assert declared.kind.name == "LONG"
    assert declared.all_keys[1:] == ["log.retention.minutes", "log.retention.hours"]
    assert list(LogSettings.declared) == [
        "log_segment_bytes",
        "log_cleanup_policy",
        "log_retention_ms",
    ]
