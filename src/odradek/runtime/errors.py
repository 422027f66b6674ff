"""The errors that every part of the house may raise or must survive."""


class OdradekError(Exception):
    """The root of all errors that are ours to raise."""


class ProtocolError(OdradekError):
    """A peer broke its protocol: it loses its connection, everyone else goes on."""
