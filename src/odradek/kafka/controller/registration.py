"""A broker's entry in `/brokers/ids`: who it is and where to reach it.

Version 5 is written, or an older one where an older protocol is spoken. 1 to 5 are understood: 1
knows only a host and a port, 2 adds endpoints, 3 the rack, 4 the protocols that listeners' names
stand for, 5 features.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from odradek.kafka.controller.znodes import BadZnode, checked, parsed
from odradek.kafka.settings.endpoints import Endpoint, SecurityProtocol, read_address
from odradek.kafka.settings.versions import BY_TEXT, Version

NEWEST = 5
SINCE = {BY_TEXT["2.7-IV0"]: 5, BY_TEXT["0.10.0-IV1"]: 4}
OLDEST_WRITTEN = 2


@dataclass(frozen=True, slots=True)
class Registration:
    """What a broker says of itself."""

    id: int
    endpoints: tuple[Endpoint, ...]
    rack: str | None = None
    features: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # Least and greatest.

    def endpoint(self, listener: str) -> Endpoint | None:
        return next((it for it in self.endpoints if it.name == listener), None)


def registration_version(protocol: Version) -> int:
    """The version that all brokers of this protocol can read."""
    return next((it for since, it in SINCE.items() if protocol >= since), OLDEST_WRITTEN)


def write_registration(
    registration: Registration, timestamp_ms: int, *, version: int = NEWEST, jmx_port: int = -1
) -> bytes:
    plain = next(
        (it for it in registration.endpoints if it.protocol is SecurityProtocol.PLAINTEXT), None
    )
    value: dict[str, Any] = {
        "version": version,
        "host": plain.host if plain else None,
        "port": plain.port if plain else -1,
        "endpoints": [str(it) for it in registration.endpoints],
        "jmx_port": jmx_port,
        "timestamp": str(timestamp_ms),
    }
    if registration.rack is not None and version >= 3:
        value["rack"] = registration.rack
    if version >= 4:
        protocols = {it.name: it.protocol.value for it in registration.endpoints}
        value["listener_security_protocol_map"] = protocols
    if version >= 5:
        value["features"] = {
            name: {"min_version": least, "max_version": greatest}
            for name, (least, greatest) in registration.features.items()
        }
    return json.dumps(value, separators=(",", ":")).encode()


def read_registration(broker_id: int, data: bytes) -> Registration:
    """Raises `BadZnode`."""
    value = parsed(data)
    with checked(f"the registration of broker {broker_id}"):
        if value["version"] < 1:
            raise BadZnode(f"version {value['version']}")
        return Registration(broker_id, endpoints_of(value), value.get("rack"), features_of(value))


def endpoints_of(value: Mapping[str, Any]) -> tuple[Endpoint, ...]:
    if value["version"] < 2:
        host, port = value["host"], int(value["port"])
        return (Endpoint("PLAINTEXT", host, port, SecurityProtocol.PLAINTEXT),)
    protocols = value.get("listener_security_protocol_map")
    addresses = [read_address(text) for text in value["endpoints"]]
    if protocols is None:  # Before version 4 a listener was named for its protocol.
        return tuple(Endpoint(*it, SecurityProtocol(it.name)) for it in addresses)
    named = {name.upper(): SecurityProtocol(protocol) for name, protocol in protocols.items()}
    return tuple(Endpoint(*it, named[it.name]) for it in addresses)


def features_of(value: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    if value["version"] < 5:
        return {}
    return {
        name: (int(said["min_version"]), int(said["max_version"]))
        for name, said in (value.get("features") or {}).items()
    }
