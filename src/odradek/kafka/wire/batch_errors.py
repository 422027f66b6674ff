"""What may be wrong with a batch, told apart by what the sender can do about it."""

from __future__ import annotations

from odradek.runtime.errors import ProtocolError


class CorruptBatch(ProtocolError):
    """The outside is broken: size, magic or checksum. A retry may help (CORRUPT_MESSAGE)."""


class InvalidRecord(ProtocolError):
    """The checksum is right but the inside makes no sense: no retry helps (INVALID_RECORD)."""


class UnsupportedCodec(ProtocolError):
    """A codec that nobody knows, or that this format cannot carry."""


class BatchTooLarge(ProtocolError):
    """The records would take more room, once decompressed, than the reader allows."""
