"""The members of an ensemble on disk: a file a version, and the zoo.cfg that names the newest.

The new file is there before the zoo.cfg names it, and each is replaced as a whole, so whatever a
crash leaves is either the old membership or the new one.
"""

from __future__ import annotations

import re

from odradek.runtime.disk import Disk

SUFFIX = ".dynamic"
VERSION = re.compile(r"\.[0-9A-Fa-f]{1,16}$")
MOVED = re.compile(r"\s*(server\.|group\.|weight\.|dynamicConfigFile\s*[=:\s])")


def write_members(disk: Disk, config_path: str, text: str, version: int) -> str:
    """Let this membership be found at the next start; return the path of its file.

    `text` is that of `/zookeeper/config`, whose last line is the version.
    """
    config = read_text(disk, config_path)
    path = f"{dynamic_prefix(config_path, config)}.{version:x}"
    lines = [line for line in text.splitlines() if not line.startswith("version=")]
    replace_text(disk, path, "\n".join(lines) + "\n")
    kept = [line for line in config.splitlines() if not MOVED.match(line)]
    replace_text(disk, config_path, "\n".join([*kept, f"dynamicConfigFile={path}", ""]))
    return path


def dynamic_prefix(config_path: str, config: str) -> str:
    """The path that the zoo.cfg names, without its version, or one beside the zoo.cfg."""
    for line in config.splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "dynamicConfigFile" and value.strip():
            return VERSION.sub("", value.strip())
    return config_path + SUFFIX


def read_text(disk: Disk, path: str) -> str:
    with disk.open(path, read_only=True) as file:
        return file.pread(0, file.size()).decode("latin-1")


def replace_text(disk: Disk, path: str, text: str) -> None:
    unfinished = f"{path}.tmp"
    with disk.open(unfinished, create=True) as file:
        file.truncate(0)
        file.write(0, text.encode("latin-1"))
        file.sync()
    disk.rename(unfinished, path)
    disk.sync_directory(path.rpartition("/")[0] or "/")
