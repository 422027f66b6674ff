"""Who has opened a connection to a port of ours: told by the process that holds its other end.

Linux keeps the connections in /proc/net/tcp and the sockets of a process in /proc/PID/fd; elsewhere
`lsof` is asked. Only processes that we started are looked at: anybody else is a client.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
LOCAL, REMOTE, INODE = 1, 2, 9  # Columns of those tables.


def holder_of(port: int, peer_port: int, names_by_pid: Mapping[int, str]) -> str | None:
    """Which of our processes is connected from `port` to `peer_port`; None: none of them."""
    if not TABLES[0].exists():
        return names_by_pid.get(_pid_by_lsof(port, peer_port))
    inode = _inode(port, peer_port)
    if inode is None:
        return None
    wanted = f"socket:[{inode}]"
    for pid, name in names_by_pid.items():
        if _has_open(pid, wanted):
            return name
    return None


def _inode(port: int, peer_port: int) -> str | None:
    ends = f":{port:04X}", f":{peer_port:04X}"
    for table in TABLES:
        with suppress(OSError):
            for line in table.read_text().splitlines()[1:]:
                words = line.split()
                if words[LOCAL].endswith(ends[0]) and words[REMOTE].endswith(ends[1]):
                    return words[INODE]
    return None


def _has_open(pid: int, wanted: str) -> bool:
    directory = f"/proc/{pid}/fd"
    with suppress(OSError):
        for number in os.listdir(directory):
            with suppress(OSError):  # It may be closed by now.
                if os.readlink(f"{directory}/{number}") == wanted:
                    return True
    return False


def _pid_by_lsof(port: int, peer_port: int) -> int:
    with suppress(OSError):
        said = subprocess.run(
            ["lsof", "-nP", f"-iTCP:{port}", "-sTCP:ESTABLISHED", "-Fpn"],
            capture_output=True,
            text=True,
        ).stdout
        pid = -1
        for line in said.splitlines():
            if line.startswith("p"):
                pid = int(line[1:])
            elif line.endswith(f":{peer_port}") and f":{port}->" in line:
                return pid
    return -1
