"""The brokers of a cluster as `/brokers/ids` has them, and where a client reaches each.

A broker may listen at several addresses. A client that was given a listener's name uses that one;
else the listener named PLAINTEXT, else the first that speaks plain text, whatever its name. A
broker without such a listener is none for this client: it is left out, and it is said why.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from odradek.kafka.client.addresses import Address
from odradek.kafka.controller.registration import Registration, read_registration
from odradek.kafka.controller.znodes import BadZnode
from odradek.kafka.settings.endpoints import Endpoint, SecurityProtocol

PLAIN = SecurityProtocol.PLAINTEXT


class Entry(NamedTuple):
    """The znode of one broker."""

    data: bytes
    epoch: int  # The zxid that made it: a broker that comes back has a greater one.


class Registered(NamedTuple):
    """A broker that can be reached."""

    address: Address
    epoch: int


class Found(NamedTuple):
    """The brokers by their ids, and a sentence for each znode that gave none."""

    brokers: dict[int, Registered]
    problems: list[str]


def usable_brokers(entries: Mapping[str, Entry], listener: str | None = None) -> Found:
    """What the children of `/brokers/ids`, by name, come to for this client."""
    found = Found({}, [])
    for name, entry in sorted(entries.items()):
        try:
            address = _address(name, entry.data, listener)
        except BadZnode as error:
            found.problems.append(f"/brokers/ids/{name}: {error}")
        else:
            found.brokers[int(name)] = Registered(address, entry.epoch)
    return found


def _address(name: str, data: bytes, listener: str | None) -> Address:
    if not name.isdecimal():
        raise BadZnode("the name is no number")
    endpoint = _chosen(read_registration(int(name), data), listener)
    if not endpoint.host or not endpoint.port:
        raise BadZnode(f"{endpoint} is no address")
    return Address(endpoint.host, endpoint.port)


def _chosen(broker: Registration, listener: str | None) -> Endpoint:
    plain = [it for it in broker.endpoints if it.protocol is PLAIN]
    if listener is not None:
        plain = [it for it in plain if it.name == listener]
    if not plain:
        named = f" named {listener}" if listener else ""
        offered = ", ".join(f"{it.name} ({it.protocol.value})" for it in broker.endpoints)
        raise BadZnode(f"no plain text listener{named} among {offered or 'none'}")
    return next((it for it in plain if it.name == PLAIN.value), plain[0])
