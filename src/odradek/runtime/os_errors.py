"""What the operating system's errors mean for a promise.

Full and broken are told apart, because a full disk may be waited for and a broken one may not
be trusted. All else (no such file, no permission) stays the `OSError` that it is.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from odradek.runtime.disk import DiskBroken, DiskFull

# EFBIG is a limit on one file (`ulimit -f`): there is no room here, there may be in the next.
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

# A file system whose device fails turns read-only (EROFS) or calls itself damaged (EUCLEAN).
BROKEN = frozenset(
    {errno.EIO, errno.EROFS, errno.ENXIO, errno.ENODEV, getattr(errno, "EUCLEAN", errno.EIO)}
)


def raise_disk_error(path: str, error: OSError) -> NoReturn:
    """Raise `DiskFull`, `DiskBroken` or, where it is neither, the error itself."""
    reason = os.strerror(error.errno) if error.errno else str(error)
    if error.errno in FULL:
        raise DiskFull(path, reason) from error
    if error.errno in BROKEN:
        raise DiskBroken(path, reason) from error
    raise error


@contextmanager
def disk_errors(path: str) -> Iterator[None]:
    """Translate what is raised inside. Costs a microsecond: hot paths use `try` themselves."""
    try:
        yield
    except OSError as error:
        raise_disk_error(path, error)
