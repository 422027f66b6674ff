"""Why a server may refuse to start on what its directory holds."""

from __future__ import annotations

from odradek.runtime.errors import OdradekError


class StorageError(OdradekError):
    """The stored data cannot be used as it is; `path` says where."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class CorruptLog(StorageError):
    """A log holds bytes that no crash leaves behind; what follows them may have been promised."""

    def __init__(self, path: str, position: int, reason: str) -> None:
        super().__init__(path, f"at byte {position}: {reason}")
        self.position = position


class CorruptSnapshot(StorageError):
    """A snapshot is cut off or was changed; an older one may do."""


class MissingSnapshot(StorageError):
    """The log goes on from a tree that is not there."""


class MisplacedFiles(StorageError):
    """Logs lie where snapshots belong, or the other way round."""
