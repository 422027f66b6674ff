"""Settings under Kafka's names, and what is refused by name."""

from __future__ import annotations

import pytest

from odradek.kafka.client.addresses import Address, parse_bootstrap_servers
from odradek.kafka.client.errors import InvalidSetting
from odradek.kafka.client.settings import READ_COMMITTED, client_settings, problems_of

HERE = {"bootstrap.servers": "localhost:9092"}


def test_addresses_are_hosts_and_ports() -> None:
    assert parse_bootstrap_servers("a:1, [fe80::1]:2,,PLAINTEXT://c:3") == (
        Address("a", 1),
        Address("fe80::1", 2),
        Address("c", 3),
    )


@pytest.mark.parametrize("text", ["", ",", "a", "a:0", "a:65536", "a:b", "fe80::1:9092", "a:1;b:2"])
def test_what_is_no_address_is_refused_with_its_text(text: str) -> None:
    with pytest.raises(InvalidSetting, match=r"bootstrap\.servers"):
        parse_bootstrap_servers(text)


def test_kafkas_own_keys_are_read() -> None:
    given = {
        **HERE,
        "client.id": "me",
        "isolation.level": "read_committed",
        "max.partition.fetch.bytes": "123",
        "request.timeout.ms": "9",
        "metrics.recording.level": "INFO",
    }
    settings = client_settings(given)
    assert settings.bootstrap_servers == (Address("localhost", 9092),)
    assert settings.client_id == "me"
    assert settings.isolation_level == READ_COMMITTED
    assert settings.partition_fetch_bytes_max == 123
    assert settings.request_timeout_ms == 9
    assert settings.check_crcs


def test_all_that_is_wrong_is_named_at_once() -> None:
    given = {
        "fetch.max.wait.ms": "soon",
        "fetch.max.bytes": "0",
        "isolation.level": "serializable",
        "security.protocol": "SASL_SSL",
        "sasl.jaas.config": "password=hush",
        "ssl.keystore.password": "hush",
    }
    problems = problems_of(given)
    assert {problem.key for problem in problems} == {"bootstrap.servers", *given}
    assert "bootstrap.servers must be given" in map(str, problems)
    assert not any("hush" in str(problem) for problem in problems)


def test_encryption_is_refused_rather_than_dropped() -> None:
    with pytest.raises(InvalidSetting, match=r"security\.protocol=SSL: this client speaks plain"):
        client_settings({**HERE, "security.protocol": "SSL"})


def test_equal_settings_may_share_connections() -> None:
    assert hash(client_settings(HERE)) == hash(client_settings(HERE))
