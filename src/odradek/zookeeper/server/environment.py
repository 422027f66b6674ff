"""What a server runs on, under the names that a JVM has for it.

Monitors look for these names. Where one asks about Java, the answer tells of Python.
"""

from __future__ import annotations

import os
import socket
import sys
from pwd import getpwuid

from odradek.zookeeper.server.version import FULL_VERSION

MEGABYTE = 1024 * 1024


def environment() -> dict[str, str]:
    """All of it, in the order in which it is shown."""
    system = os.uname()
    return {
        "zookeeper.version": FULL_VERSION,
        "host.name": socket.gethostname(),
        "java.version": sys.version.partition(" ")[0],
        "java.vendor": sys.implementation.name,
        "java.home": sys.prefix,
        "java.class.path": os.pathsep.join(sys.path),
        "java.library.path": "",
        "java.io.tmpdir": os.environ.get("TMPDIR", "/tmp"),
        "java.compiler": "<NA>",
        "os.name": system.sysname,
        "os.arch": system.machine,
        "os.version": system.release,
        "user.name": user_name(),
        "user.home": os.path.expanduser("~"),
        "user.dir": os.getcwd(),
        **memory(),
    }


def user_name() -> str:
    try:
        return getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())  # In a container a user may have no name.


def memory() -> dict[str, str]:
    """There is no heap of a fixed size: the machine's memory is what can be used."""
    page_bytes = os.sysconf("SC_PAGE_SIZE")
    whole = f"{page_bytes * os.sysconf('SC_PHYS_PAGES') // MEGABYTE}MB"
    free = f"{page_bytes * os.sysconf('SC_AVPHYS_PAGES') // MEGABYTE}MB"
    return {"os.memory.free": free, "os.memory.max": whole, "os.memory.total": whole}


def system_properties() -> dict[str, str]:
    """The same without the memory, and what a JVM would say of files; nothing that is secret."""
    shown = {
        "file.encoding": "UTF-8",
        "file.separator": os.sep,
        "line.separator": os.linesep,
        "path.separator": os.pathsep,
    }
    shown.update(environment())
    return {key: shown[key] for key in sorted(shown) if not key.startswith("os.memory.")}


def open_files() -> tuple[int, int]:
    """How many files and sockets this process has open, and how many it may have."""
    from resource import RLIMIT_NOFILE, getrlimit

    try:
        open_count = len(os.listdir("/proc/self/fd"))
    except OSError:
        open_count = len(os.listdir("/dev/fd"))
    return open_count, getrlimit(RLIMIT_NOFILE)[0]
