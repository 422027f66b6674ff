"""The members of an ensemble, as the lines `server.N` name them.

    host:quorumPort:electionPort[:participant|observer][;[clientAddress:]clientPort]

Several addresses of one server are joined by `|`, and an IPv6 address stands in brackets. The
text of a `Member` is the line in `/zookeeper/config`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from odradek.runtime.kinds import Kind, choice
from odradek.zookeeper.settings.kinds import PORT

ANY_HOST = "0.0.0.0"
WHOLE = re.compile(r"[0-9]{1,19}")
FORM = (
    "must be host:quorumPort:electionPort[:participant|observer], several joined by |, "
    "and after a ; the port or host:port for clients"
)


class Role(Enum):
    """Whether a server votes."""

    PARTICIPANT = "participant"
    OBSERVER = "observer"


ROLE = choice(Role, any_case=True)


@dataclass(frozen=True, slots=True)
class Address:
    """A host, by name or number, and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One host of a member, where its peers reach it."""

    host: str
    quorum_port: int
    election_port: int

    def __str__(self) -> str:
        return f"{Address(self.host, self.quorum_port)}:{self.election_port}"


@dataclass(frozen=True, slots=True)
class Member:
    """A server of the ensemble; of several endpoints each leads to it."""

    endpoints: tuple[Endpoint, ...]
    role: Role = Role.PARTICIPANT
    client_address: Address | None = None

    @property
    def quorum_addresses(self) -> tuple[Address, ...]:
        return tuple(Address(it.host, it.quorum_port) for it in self.endpoints)

    @property
    def election_addresses(self) -> tuple[Address, ...]:
        return tuple(Address(it.host, it.election_port) for it in self.endpoints)

    def __str__(self) -> str:
        endpoints = "|".join(map(str, sorted(self.endpoints, key=lambda it: it.host)))
        client = f";{self.client_address}" if self.client_address else ""
        return f"{endpoints}:{self.role.value}{client}"


def read_member(text: str) -> Member:
    servers, *client = text.split(";")
    if len(client) > 1:
        raise ValueError(FORM)
    read = [read_endpoint(part) for part in servers.split("|")]
    roles = {role for _, role in read if role}
    if len(roles) > 1:
        raise ValueError("must give all its addresses the same role")
    endpoints = tuple(endpoint for endpoint, _ in read)
    address = read_client_address(client[0]) if client else None
    return Member(endpoints, roles.pop() if roles else Role.PARTICIPANT, address)


def read_endpoint(text: str) -> tuple[Endpoint, Role | None]:
    host, ports = split_host(text)
    if not host or len(ports) not in (2, 3):
        raise ValueError(FORM)
    endpoint = Endpoint(host, read_port(ports[0]), read_port(ports[1]))
    if endpoint.quorum_port == endpoint.election_port:
        raise ValueError("must have two different ports for the quorum and the election")
    return endpoint, ROLE.read(ports[2].strip()) if len(ports) == 3 else None


def read_client_address(text: str) -> Address:
    if ":" not in text:
        return Address(ANY_HOST, read_port(text))
    host, ports = split_host(text)
    if not host or len(ports) != 1:
        raise ValueError(FORM)
    return Address(host, read_port(ports[0]))


def split_host(text: str) -> tuple[str, list[str]]:
    if not text.startswith("["):
        host, *rest = text.split(":")
        return host, rest
    host, bracket, after = text[1:].partition("]")
    if not bracket or not after.startswith(":"):
        raise ValueError("must close the bracket of an IPv6 address before the port: [::1]:2888")
    return host, after[1:].split(":")


def read_port(text: str) -> int:
    try:
        return PORT.read(text)
    except ValueError as error:
        raise ValueError(f"has the port {text!r}, which {error}") from None


def read_group(text: str) -> tuple[int, ...]:
    ids = text.split(":")
    if not all(WHOLE.fullmatch(it) for it in ids):
        raise ValueError("must be server ids joined by colons, such as 1:2:3")
    return tuple(map(int, ids))


MEMBER: Kind[Member] = Kind("STRING", read_member)
GROUP: Kind[tuple[int, ...]] = Kind("STRING", read_group)
