"""What stored data may be, other than right. A client's mistake is a `Refusal`, not an error."""

from __future__ import annotations

from odradek.runtime.disk import DiskError
from odradek.runtime.errors import OdradekError


class StorageError(OdradekError):
    """The stored data cannot be used as it is; `path` says where."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class CorruptCheckpoint(StorageError):
    """A small file of text is not what its writer left; it is never half written."""


class CorruptSnapshot(StorageError):
    """A producer snapshot is torn or was changed; an older one and the log will do."""


class CorruptLog(StorageError):
    """A log holds, below its recovery point, what no append has written."""


class UnexpectedOffset(StorageError):
    """A leader sent batches that do not follow what the follower has."""


class InconsistentDirectory(StorageError):
    """A log directory belongs to another broker or cluster, or a topic to another id."""


DISK_TROUBLE = (DiskError, StorageError, OSError)  # What makes a log directory unusable.
