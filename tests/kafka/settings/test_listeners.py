"""Where a broker listens, where it says it does, and what one listener has for itself."""

from __future__ import annotations

import pytest

from odradek.kafka.settings import Endpoint, SecurityProtocol
from tests.kafka.settings.server_properties import read, refused

TWO = """\
listeners=clients://:9092,BROKERS://[::1]:9093
listener.security.protocol.map=CLIENTS:SASL_SSL,brokers:PLAINTEXT
inter.broker.listener.name=brokers
"""


def test_a_listener_has_a_name_an_address_and_a_protocol() -> None:
    settings = read(TWO)
    assert settings.listeners == (
        Endpoint("CLIENTS", "", 9092, SecurityProtocol.SASL_SSL),
        Endpoint("BROKERS", "::1", 9093, SecurityProtocol.PLAINTEXT),
    )
    assert [str(it) for it in settings.listeners] == ["CLIENTS://:9092", "BROKERS://[::1]:9093"]
    assert settings.inter_broker_listener_name == "BROKERS"
    assert settings.inter_broker_security_protocol is SecurityProtocol.PLAINTEXT


def test_others_are_told_another_address_if_there_is_one() -> None:
    assert read(TWO).advertised_listeners == read(TWO).listeners
    told = read(TWO + "advertised.listeners=BROKERS://b.example:1\n").advertised_listeners
    assert told == (Endpoint("BROKERS", "b.example", 1, SecurityProtocol.PLAINTEXT),)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("listeners=A://:1", "A is not in listener.security.protocol.map"),
        ("listeners=PLAINTEXT://:1,PLAINTEXT://:2", "has several listeners named PLAINTEXT"),
        ("listeners=PLAINTEXT://a:1,SSL://b:1", "has several listeners at port 1"),
        ("listeners=", "must name at least one listener"),
        (
            "advertised.listeners=PLAINTEXT://0.0.0.0:1",
            "0.0.0.0 is no address that others can connect to",
        ),
        ("advertised.listeners=PLAINTEXT://h:1,SSL://h:2", "SSL is not among the listeners"),
        ("inter.broker.listener.name=SSL", "SSL is not advertised; choose from PLAINTEXT"),
        ("control.plane.listener.name=SSL", "SSL is not advertised"),
        ("control.plane.listener.name=PLAINTEXT", "must not be the listener among brokers"),
    ],
)
def test_listeners_that_cannot_be_are_refused(text: str, reason: str) -> None:
    key, _, value = text.partition("=")
    assert f"server.properties:1: {key}={value!r}: {reason}" in refused(text)


def test_a_listener_may_have_settings_of_its_own() -> None:
    settings = read(
        TWO + "max.connections=10\n"
        "listener.name.brokers.max.connections=5\n"
        "listener.name.clients.scram-sha-256.sasl.jaas.config=x\n"
    )
    assert settings.max_connections == 10
    assert settings.of_listener("BROKERS").max_connections == 5
    assert settings.of_listener("CLIENTS").max_connections == 10


def test_a_wrong_option_of_a_listener_is_refused_and_not_shown() -> None:
    assert refused("listener.name.plaintext.max.connections=x") == [
        "server.properties:1: listener.name.plaintext.max.connections=[hidden]: "
        "must be a whole number from -2147483648 to 2147483647"
    ]


def test_options_of_a_listener_that_is_not_there_are_warned_about() -> None:
    assert [str(it) for it in read("listener.name.a.max.connections=1").warnings] == [
        "server.properties:1: listener.name.a.max.connections: not used: there is no listener A"
    ]
