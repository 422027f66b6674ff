"""Connect strings: where the servers are, and which znode is to be the root.

zk1:2181,zk2,[fe80::1]:2182/kafka/east
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from odradek.zookeeper.client.errors import BadArguments

PORT = 2181
PORT_MAX = 65535
_ADDRESS = re.compile(r"(?:\[(?P<bracketed>[^\[\]]+)\]|(?P<plain>[^\[\]:\s]+))(?::(?P<port>\d+))?")


class Address(NamedTuple):
    """A server's client port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class ConnectString:
    """What a connect string says; a `chroot` of "" is the root itself."""

    addresses: tuple[Address, ...]
    chroot: str


def parse_connect_string(text: str) -> ConnectString:
    """Read a connect string; refuse it, saying which part, if it names no server."""
    hosts, slash, rest = text.partition("/")
    chroot = slash + rest
    if chroot == "/":
        chroot = ""
    if chroot.endswith("/") or "//" in chroot:
        raise BadArguments(f"chroot {chroot!r} of connect string {text!r}")
    # A comma too many is common in configuration files and harms nobody.
    parts = [part.strip() for part in hosts.split(",") if part.strip()]
    if not parts:
        raise BadArguments(f"connect string {text!r} names no server")
    return ConnectString(tuple(map(_parse_address, parts)), chroot)


def _parse_address(text: str) -> Address:
    match = _ADDRESS.fullmatch(text)
    port = int((match and match["port"]) or PORT)
    if match is None or not 0 < port <= PORT_MAX:
        raise BadArguments(f"server {text!r} in a connect string")
    return Address(match["bracketed"] or _checked_name(match["plain"]), port)


def _checked_name(name: str) -> str:
    """Refuse what no resolver could even be asked for."""
    try:
        name.encode("idna")
    except UnicodeError as error:
        raise BadArguments(f"server {name!r} in a connect string: {error}") from error
    return name
