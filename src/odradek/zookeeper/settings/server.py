"""The settings of one server, whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from odradek.runtime.properties import Problem, Properties
from odradek.zookeeper.settings.clients import ClientSettings
from odradek.zookeeper.settings.ensemble import MYID, EnsembleSettings
from odradek.zookeeper.settings.members import ANY_HOST, Address
from odradek.zookeeper.settings.monitoring import MonitoringSettings
from odradek.zookeeper.settings.security import SecuritySettings
from odradek.zookeeper.settings.storage import StorageSettings, TreeSettings
from odradek.zookeeper.settings.without_effect import OF_THE_JVM, is_among, why_without_effect

# The top byte of a node's owner: 255 marks a TTL node, so no session may begin with it.
TTL_SERVER_ID_MAX = 254
BACKLOG = 1024


class ZooKeeperSettings(
    ClientSettings,
    StorageSettings,
    TreeSettings,
    SecuritySettings,
    MonitoringSettings,
    EnsembleSettings,
):
    """All that a zoo.cfg can say. Fields named `given_` have a property that says what is used."""

    without_effect: Sequence[Problem]

    def __init__(self, properties: Properties) -> None:
        useful = {
            key: entry
            for key, entry in properties.entries.items()
            if key in self._known_keys() or not is_among(key, OF_THE_JVM)
        }
        super().__init__(replace(properties, entries=useful))
        fields = vars(self)
        fields["warnings"] = [*self.warnings, *self._cautions(properties)]
        fields["without_effect"] = list(self._without_effect(properties))

    @property
    def client_address(self) -> Address | None:
        """Where clients connect: this server's own line knows it better than `clientPort`."""
        if self.me and self.me.client_address:
            return self.me.client_address
        return address_of(self.client_port_address, self.client_port)

    @property
    def client_backlog(self) -> int:
        """How many clients may wait until they are let in."""
        given = self.client_port_listen_backlog
        return given if given > 0 else BACKLOG

    @property
    def secure_client_address(self) -> Address | None:
        return address_of(self.secure_client_port_address, self.secure_client_port)

    def disagreements(self) -> Iterator[tuple[str, str]]:
        yield from ClientSettings.disagreements(self)
        yield from EnsembleSettings.disagreements(self)
        if not self.is_distributed and not self._has_a_door():
            yield "clientPort", "is required unless there is a secureClientPort"
        theirs = self.me.client_address if self.me else None
        # Two hosts may be two names of one; ports have no names.
        if theirs and self.client_port not in (None, theirs.port):
            yield "clientPort", f"is not the port in server.{self.server_id}, {theirs.port}"
        if self.extended_types_enabled and (self.server_id or 0) > TTL_SERVER_ID_MAX:
            yield MYID, f"must be at most {TTL_SERVER_ID_MAX} with extendedTypesEnabled"

    def cautions(self) -> Iterator[tuple[str, str]]:
        yield from StorageSettings.cautions(self)
        yield from EnsembleSettings.cautions(self)
        if self.is_distributed and not self._has_a_door():
            yield "clientPort", "without it no client can connect to this server"

    def _has_a_door(self) -> bool:
        return self.client_address is not None or self.secure_client_address is not None

    def _known_keys(self) -> set[str]:
        return {key for it in self.declared.values() for key in it.all_keys}

    def _cautions(self, properties: Properties) -> Iterator[Problem]:
        for key, reason in self.cautions():
            entry = properties.entries.get(key)
            yield entry.problem(reason) if entry else Problem(reason, key, properties.file)

    def _without_effect(self, properties: Properties) -> Iterator[Problem]:
        for key, entry in properties.entries.items():
            if reason := why_without_effect(key, is_alone=not self.is_distributed):
                # Without the value: passwords are among them.
                yield Problem(reason, entry.key, entry.file, entry.line)


def address_of(host: str | None, port: int | None) -> Address | None:
    return None if port is None else Address(host or ANY_HOST, port)
