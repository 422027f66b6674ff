"""What cannot be done to a cluster, said in a sentence."""

from __future__ import annotations

from odradek.runtime.errors import OdradekError


class CannotBeDone(OdradekError):
    """A fault that this machine, or this cluster, does not allow."""
