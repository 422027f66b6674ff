"""Bootstrap servers: where a client looks for its first broker.

kafka1:9092,[fe80::1]:9093

`zookeeper_servers` reads what may stand in their place.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from odradek.kafka.client.errors import InvalidSetting

PORT_MAX = 65535
_ADDRESS = re.compile(r"(?:\[(?P<bracketed>[^\[\]]+)\]|(?P<plain>[^\[\]:\s]+)):(?P<port>\d+)")


class Address(NamedTuple):
    """Where a broker listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_bootstrap_servers(text: str) -> tuple[Address, ...]:
    """Read a list of brokers; refuse it, saying which part, if one is no host and port."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise InvalidSetting("bootstrap.servers", text, "names no broker")
    return tuple(_parse_address(part, text) for part in parts)


def _parse_address(part: str, text: str) -> Address:
    if part.lower().startswith("zk://"):
        reason = "either brokers are named or ZooKeepers, and zk:// stands before all of them"
        raise InvalidSetting("bootstrap.servers", text, reason)
    # A listener's name before the address is common in copied configuration.
    match = _ADDRESS.fullmatch(part.removeprefix("PLAINTEXT://"))
    if match is None or not 0 < int(match["port"]) <= PORT_MAX:
        raise InvalidSetting("bootstrap.servers", text, f"{part!r} is no host:port")
    return Address(match["bracketed"] or match["plain"], int(match["port"]))
