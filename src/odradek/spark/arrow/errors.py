"""What a reader of batches may find: bytes that are not what was written."""

from __future__ import annotations

from odradek.runtime.errors import OdradekError


class UnreadableBatch(OdradekError):
    """A batch that cannot be read; says which, so that somebody can skip or repair it."""

    def __init__(self, topic: str, partition: int, offset: int, reason: object) -> None:
        super().__init__(f"{topic}-{partition}, batch from offset {offset} on: {reason}")
        self.offset = offset
