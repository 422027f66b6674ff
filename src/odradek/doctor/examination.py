"""What is at a path, and who looks at it; without a path it is the machine."""

from __future__ import annotations

from collections.abc import Iterator
from os.path import abspath

from odradek.doctor.finding import Finding, note, wrong
from odradek.runtime.disk import DirectoryLocked, Disk
from odradek.runtime.os_disk import LOCK_NAME, OsDisk

OF_ZOOKEEPER = ("version-2", "myid", "acceptedEpoch", "currentEpoch")


def examine(path: str | None = None, *, is_quick: bool = False) -> Iterator[Finding]:
    """Look at a machine, a config file or a data directory, whichever it is."""
    if path is None:
        from odradek.doctor.machine import look_at_machine

        yield from look_at_machine()
        return
    disk, where = OsDisk(), abspath(path)
    if not disk.exists(where):
        yield wrong(path, "there is no such file or directory")
    elif disk.is_directory(where):
        yield from of_lock(disk, where)
        yield from look_at_directory(disk, where, is_quick)
    else:
        from odradek.doctor.config import look_at_config

        yield from look_at_config(disk, where)


def look_at_directory(disk: Disk, path: str, is_quick: bool) -> Iterator[Finding]:
    names = disk.list_directory(path)
    if is_of_zookeeper(names):
        from odradek.doctor.zookeeper_directory import look_at_zookeeper_directory

        yield from look_at_zookeeper_directory(disk, path)
        return
    from odradek.doctor.kafka_directory import look_at_log_directory

    yield from look_at_log_directory(disk, path, is_quick=is_quick)


def is_of_zookeeper(names: list[str]) -> bool:
    return any(name in OF_ZOOKEEPER or name.startswith("snapshot.") for name in names)


def of_lock(disk: Disk, path: str) -> Iterator[Finding]:
    """Whether a server is at work here: then files change while we look."""
    for directory in (path, f"{path}/version-2"):
        if not disk.exists(f"{directory}/{LOCK_NAME}"):
            continue
        try:
            disk.lock_directory(directory).release()
        except DirectoryLocked:
            yield note(
                directory,
                "a server is running on it: files may change while they are read,"
                " and the newest may look torn",
            )
        except OSError as error:
            yield note(directory, f"its lock cannot be looked at: {error}")
