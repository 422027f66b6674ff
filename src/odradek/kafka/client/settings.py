"""The settings of a client, under the names that Kafka's own consumer gives them.

What we cannot do is refused by name, for a client that drops `ssl.*` in silence would send in the
clear what its user meant to hide. What has no meaning here (a deserialiser's cache, a metrics
reporter) is left alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from odradek.kafka.client.addresses import Address, parse_bootstrap_servers
from odradek.kafka.client.errors import InvalidSetting
from odradek.kafka.client.zookeeper_servers import (
    ZooKeeperServers,
    names_zookeeper,
    parse_zookeeper_servers,
)

READ_UNCOMMITTED, READ_COMMITTED = 0, 1
ISOLATION_LEVELS = {"read_uncommitted": READ_UNCOMMITTED, "read_committed": READ_COMMITTED}
MEBIBYTE = 1024 * 1024
INT32_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """What a client needs to know; two clients with equal settings may share connections."""

    bootstrap_servers: tuple[Address, ...] = ()
    zookeeper: ZooKeeperServers | None = None  # Who knows the brokers, if they are not named.
    is_told: bool = True  # Whether ZooKeeper tells of changes; else it is asked when need be.
    client_id: str = "odradek"
    request_timeout_ms: int = 30_000
    default_api_timeout_ms: int = 60_000
    connection_setup_timeout_ms: int = 10_000
    connections_idle_ms_max: int = 540_000
    metadata_age_ms_max: int = 300_000
    retry_backoff_ms: int = 100
    retry_backoff_ms_max: int = 1_000
    receive_buffer_bytes: int = -1  # -1: as the system thinks best.
    send_buffer_bytes: int = -1
    fetch_min_bytes: int = 1
    fetch_max_bytes: int = 50 * MEBIBYTE
    fetch_max_wait_ms: int = 500
    partition_fetch_bytes_max: int = 4 << 20  # Kafka's 1 MiB leaves bulk reads waiting.
    isolation_level: int = READ_UNCOMMITTED
    check_crcs: bool = True

    def for_task(self) -> ClientSettings:
        """The same, for a process that is one of many and soon done: see `guide`."""
        return replace(self, is_told=False)


# Kafka's key, our field, the least and the most.
_NUMBERS: dict[str, tuple[str, int, int]] = {
    "request.timeout.ms": ("request_timeout_ms", 1, INT32_MAX),
    "default.api.timeout.ms": ("default_api_timeout_ms", 1, INT32_MAX),
    "socket.connection.setup.timeout.ms": ("connection_setup_timeout_ms", 1, INT32_MAX),
    "connections.max.idle.ms": ("connections_idle_ms_max", -1, 2**63 - 1),
    "metadata.max.age.ms": ("metadata_age_ms_max", 0, 2**63 - 1),
    "retry.backoff.ms": ("retry_backoff_ms", 1, INT32_MAX),
    "retry.backoff.max.ms": ("retry_backoff_ms_max", 1, INT32_MAX),
    "receive.buffer.bytes": ("receive_buffer_bytes", -1, INT32_MAX),
    "send.buffer.bytes": ("send_buffer_bytes", -1, INT32_MAX),
    "fetch.min.bytes": ("fetch_min_bytes", 0, INT32_MAX),
    "fetch.max.bytes": ("fetch_max_bytes", 1, INT32_MAX),
    "fetch.max.wait.ms": ("fetch_max_wait_ms", 0, INT32_MAX),
    "max.partition.fetch.bytes": ("partition_fetch_bytes_max", 1, INT32_MAX),
}
_UNSPOKEN = "this client speaks plain text only, as yet"


def client_settings(properties: Mapping[str, str]) -> ClientSettings:
    """Read Kafka's own keys; refuse the first that cannot be."""
    problems = problems_of(properties)
    if problems:
        raise problems[0]
    numbers: dict[str, Any] = {
        field: int(properties[key]) for key, (field, *_) in _NUMBERS.items() if key in properties
    }
    return ClientSettings(
        **numbers,
        **_servers(properties["bootstrap.servers"]),
        client_id=properties.get("client.id", "odradek"),
        isolation_level=ISOLATION_LEVELS[properties.get("isolation.level", "read_uncommitted")],
        check_crcs=properties.get("check.crcs", "true").lower() == "true",
    )


def _servers(text: str) -> dict[str, Any]:
    if names_zookeeper(text):
        return {"zookeeper": parse_zookeeper_servers(text)}
    return {"bootstrap_servers": parse_bootstrap_servers(text)}


def problems_of(properties: Mapping[str, str]) -> list[InvalidSetting]:
    """All that is wrong with the properties, so that a user can mend it in one go."""
    problems = [
        *_problems_of_servers(properties.get("bootstrap.servers")),
        *_problems_of_security(properties),
    ]
    for key, (_, least, most) in _NUMBERS.items():
        if key in properties and not is_between(properties[key], least, most):
            reason = f"must be a whole number from {least} to {most}"
            problems.append(InvalidSetting(key, properties[key], reason))
    level = properties.get("isolation.level", "read_committed")
    if level not in ISOLATION_LEVELS:
        reason = f"must be one of {', '.join(ISOLATION_LEVELS)}"
        problems.append(InvalidSetting("isolation.level", level, reason))
    return problems


def _problems_of_servers(servers: str | None) -> list[InvalidSetting]:
    if servers is None:
        return [InvalidSetting("bootstrap.servers", None, "must be given")]
    try:
        _servers(servers)
    except InvalidSetting as problem:
        return [problem]
    return []


def _problems_of_security(properties: Mapping[str, str]) -> list[InvalidSetting]:
    problems = []
    protocol = properties.get("security.protocol", "PLAINTEXT")
    if protocol.upper() != "PLAINTEXT":
        problems.append(InvalidSetting("security.protocol", protocol, _UNSPOKEN))
    secret = sorted(key for key in properties if key.startswith(("ssl.", "sasl.")))
    # The values may be secrets: they stay out of the messages.
    return problems + [InvalidSetting(key, "…", _UNSPOKEN) for key in secret]


def is_between(text: str, least: int, most: int) -> bool:
    try:
        return least <= int(text) <= most
    except ValueError:
        return False
