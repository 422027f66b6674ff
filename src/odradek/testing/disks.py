"""A full disk, without one: the kernel refuses to let a process's files grow.

RLIMIT_FSIZE of another process can be changed while it runs (prlimit, Linux alone; no root needed).
A write then fails with EFBIG, which our servers treat as they treat ENOSPC. It is all or nothing:
every write of the process fails, that to its log included, and reads go on. A broker whose only
log directory takes no checkpoint gives up after a while, as Apache's does.
"""

from __future__ import annotations

import resource
import sys

from odradek.testing.errors import CannotBeDone


def fill(pid: int) -> None:
    """Let no file of a process take another byte."""
    _limit(pid, 0)


def free(pid: int) -> None:
    """Let it write again."""
    _limit(pid, resource.RLIM_INFINITY)


def _limit(pid: int, limit: int) -> None:
    if sys.platform != "linux":
        raise CannotBeDone("a full disk can only be had on Linux")
    _, most = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    if limit == resource.RLIM_INFINITY:
        limit = most
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (limit, most))
