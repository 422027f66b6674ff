"""The listeners: where clients and brokers connect, and where they are told to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from odradek.kafka.settings.endpoints import (
    DEFAULT_PROTOCOL_MAP,
    EVERYWHERE,
    LISTENERS,
    PROTOCOL_MAP,
    SECURITY_PROTOCOL,
    Address,
    Endpoint,
    SecurityProtocol,
    read_addresses,
    read_protocol_map,
    why_not_together,
    with_protocols,
)
from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import prefixed, setting
from odradek.runtime.kinds import PASSWORD, STRING, listed
from odradek.runtime.secret import Secret

PROTOCOL_MAP_KEY = "listener.security.protocol.map"


class ListenerSettings(Chapter):
    """The listeners, and which of them brokers use among themselves."""

    given_listeners: str = setting("listeners", LISTENERS, default="PLAINTEXT://:9092")
    given_advertised_listeners: str | None = setting(
        "advertised.listeners", LISTENERS, default=None
    )
    given_listener_security_protocol_map: str = setting(
        PROTOCOL_MAP_KEY, PROTOCOL_MAP, default=DEFAULT_PROTOCOL_MAP
    )
    given_inter_broker_listener_name: str | None = setting(
        "inter.broker.listener.name", STRING, default=None
    )
    security_inter_broker_protocol: SecurityProtocol = setting(
        "security.inter.broker.protocol", SECURITY_PROTOCOL, default=SecurityProtocol.PLAINTEXT
    )
    given_control_plane_listener_name: str | None = setting(
        "control.plane.listener.name", STRING, default=None
    )
    # Of any kind, for any listener: hidden, since passwords are among them.
    listener_options: Mapping[str, Secret] = prefixed("listener.name.", PASSWORD)

    @cached_property
    def listener_security_protocol_map(self) -> Mapping[str, SecurityProtocol]:
        return read_protocol_map(self.given_listener_security_protocol_map)

    @cached_property
    def listeners(self) -> tuple[Endpoint, ...]:
        """Where to listen."""
        return with_protocols(
            read_addresses(self.given_listeners), self.listener_security_protocol_map
        )

    @cached_property
    def advertised_listeners(self) -> tuple[Endpoint, ...]:
        """Where others are told to connect; a host of "" is this machine's own name."""
        return with_protocols(self._advertised(), self.listener_security_protocol_map)

    @property
    def inter_broker_listener_name(self) -> str:
        given = self.given_inter_broker_listener_name
        return self.security_inter_broker_protocol.value if given is None else given.upper()

    @property
    def inter_broker_security_protocol(self) -> SecurityProtocol:
        return self.listener_security_protocol_map[self.inter_broker_listener_name]

    @property
    def control_plane_listener_name(self) -> str | None:
        given = self.given_control_plane_listener_name
        return None if given is None else given.upper()

    @property
    def control_listener_name(self) -> str:
        """Where the controller and brokers talk to each other."""
        return self.control_plane_listener_name or self.inter_broker_listener_name

    def disagreements(self) -> Iterator[tuple[str, str]]:
        listeners, advertised = read_addresses(self.given_listeners), self._advertised()
        if not listeners:
            yield "listeners", "must name at least one listener"
        elif reason := why_not_together(listeners):
            yield "listeners", reason
        if unmapped := names(listeners) - self.listener_security_protocol_map.keys():
            yield "listeners", f"{listed(sorted(unmapped))} is not in {PROTOCOL_MAP_KEY}"
        if extra := names(advertised) - names(listeners):
            yield "advertised.listeners", f"{listed(sorted(extra))} is not among the listeners"
        if any(it.host == EVERYWHERE for it in advertised):
            yield "advertised.listeners", f"{EVERYWHERE} is no address that others can connect to"
        yield from self._role_disagreements(names(advertised))

    def _advertised(self) -> list[Address]:
        given = self.given_advertised_listeners
        return read_addresses(self.given_listeners if given is None else given)

    def _role_disagreements(self, advertised: set[str]) -> Iterator[tuple[str, str]]:
        name, control = self.inter_broker_listener_name, self.control_plane_listener_name
        if name not in advertised:
            choices = listed(sorted(advertised))
            yield "inter.broker.listener.name", f"{name} is not advertised; choose from {choices}"
        if control is not None and control not in advertised:
            yield "control.plane.listener.name", f"{control} is not advertised"
        elif control == name:
            yield "control.plane.listener.name", "must not be the listener among brokers"


def names(addresses: list[Address]) -> set[str]:
    return {it.name for it in addresses}
