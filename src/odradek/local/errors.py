"""What can keep a cluster from running on this machine, each said in a sentence for its user."""

from __future__ import annotations

from odradek.runtime.errors import OdradekError


class LocalError(OdradekError):
    """The root of all that this package raises."""


class PortTaken(LocalError):
    """Somebody listens where a server was to listen."""

    def __init__(self, port: int) -> None:
        super().__init__(f"port {port} is taken: name another one, or none to get a free one")
        self.port = port


class ForeignDirectory(LocalError):
    """A data directory that is not this cluster's."""


class ServerDied(LocalError):
    """A server did not start, or did not live."""


class NotInTime(LocalError):
    """What was waited for did not happen."""
