"""Listeners: a name, an address, and the security protocol that the name stands for.

    listeners=CLIENTS://:9092,BROKERS://10.0.0.1:9093
    listener.security.protocol.map=CLIENTS:SASL_SSL,BROKERS:PLAINTEXT

Names are capital letters, however they are written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import NamedTuple

from odradek.kafka.settings.kinds import readable
from odradek.runtime.kinds import choice, listed

LISTENER = re.compile(r"(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]+)")
IPV4 = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3}){3}")
PORT_MAX = 65535
EVERYWHERE = "0.0.0.0"
DEFAULT_PROTOCOL_MAP = "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT"


class SecurityProtocol(Enum):
    """What is spoken beneath Kafka's own protocol."""

    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"

    @property
    def is_sasl(self) -> bool:
        return self in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)


class Address(NamedTuple):
    """A listener as it is written; without a host it is every address of this machine."""

    name: str
    host: str
    port: int


class Endpoint(NamedTuple):
    """A listener whose security protocol is known."""

    name: str
    host: str
    port: int
    protocol: SecurityProtocol

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.name}://{host}:{self.port}"


def items(text: str) -> Iterator[str]:
    """What stands between commas; a comma too many does no harm here."""
    return (item.strip() for item in text.split(",") if item.strip())


def read_addresses(text: str) -> list[Address]:
    return [read_address(item) for item in items(text)]


def read_address(text: str) -> Address:
    match = LISTENER.fullmatch(text)
    if match is None or not match[1]:
        raise ValueError("must be a list of NAME://host:port")
    if not 0 <= int(match[3]) <= PORT_MAX:
        raise ValueError(f"must have ports from 0 to {PORT_MAX}")
    return Address(match[1].upper(), match[2], int(match[3]))


def read_protocol_map(text: str) -> dict[str, SecurityProtocol]:
    protocols = {}
    for item in items(text):
        name, colon, protocol = item.rpartition(":")
        if not colon:
            raise ValueError("must be a list of NAME:PROTOCOL")
        protocols[name.strip().upper()] = SECURITY_PROTOCOL.read(protocol.strip())
    return protocols


def with_protocols(
    addresses: Iterable[Address], protocols: Mapping[str, SecurityProtocol]
) -> tuple[Endpoint, ...]:
    return tuple(Endpoint(*it, protocols[it.name]) for it in addresses)


def why_not_together(addresses: list[Address]) -> str:
    """What keeps these from being opened on one machine; "" if nothing does."""
    names = [it.name for it in addresses]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        return f"has several listeners named {listed(twice)}"
    ports = [it.port for it in addresses if it.port != 0]
    for port in sorted(set(ports)):
        hosts = [it.host for it in addresses if it.port == port]
        if len(hosts) > 1 and not are_two_families(hosts):
            return f"has several listeners at port {port}"
    return ""


def are_two_families(hosts: list[str]) -> bool:
    """One port may serve two listeners if one is at an IPv4 address, the other at an IPv6 one."""
    is_4 = [bool(IPV4.fullmatch(host)) for host in hosts]
    is_6 = [":" in host for host in hosts]
    return len(hosts) == 2 and sum(is_4) == 1 and sum(is_6) == 1


SECURITY_PROTOCOL = choice(SecurityProtocol)
LISTENERS = readable(read_addresses)
PROTOCOL_MAP = readable(read_protocol_map)
