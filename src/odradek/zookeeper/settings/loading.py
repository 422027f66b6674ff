"""A server's settings, from all the files that hold them.

Besides the zoo.cfg there may be a dynamic file, which holds the list of servers and whose name
ends in the version of that list, and there is `myid` in the data directory.
"""

from __future__ import annotations

import re

from odradek.runtime.declarations import TRIMMED
from odradek.runtime.disk import Disk
from odradek.runtime.properties import Entry, Problem, Properties
from odradek.zookeeper.settings.ensemble import MYID
from odradek.zookeeper.settings.server import ZooKeeperSettings
from odradek.zookeeper.settings.system_properties import beneath, from_file, from_jvm_flags

DYNAMIC_PREFIXES = ("server.", "group.", "weight.")
VERSION = re.compile(r".*\.([0-9A-Fa-f]{1,16})", re.DOTALL)


def load(disk: Disk, path: str, jvm_flags: str = "") -> ZooKeeperSettings:
    """Read a zoo.cfg; `jvm_flags` is the text of SERVER_JVMFLAGS. Raises `SettingsRefused`."""
    properties = beneath(from_jvm_flags(jvm_flags), from_file(Properties.load(disk, path)))
    if entry := properties.entries.get("dynamicConfigFile"):
        refuse_members(properties)
        properties = properties.overridden_by(load_dynamic(disk, entry))
    if data_dir := value_of(properties, "dataDir"):
        put_server_id(disk, data_dir, properties)
    return ZooKeeperSettings(properties)


def value_of(properties: Properties, key: str) -> str:
    entry = properties.entries.get(key)
    return entry.value.strip(TRIMMED) if entry else ""


def refuse_members(properties: Properties) -> None:
    for key, entry in properties.entries.items():
        if key.startswith(DYNAMIC_PREFIXES):
            properties.problems.append(entry.problem("must be in the dynamic file"))


def load_dynamic(disk: Disk, pointer: Entry) -> Properties:
    path = pointer.value.strip(TRIMMED)
    try:
        dynamic = Properties.load(disk, path)
    except OSError as error:
        reason = f"cannot be read: {error.strerror or error}"
        return Properties(path, problems=[pointer.problem(reason)])
    for key, entry in dynamic.entries.items():
        if not key.startswith(DYNAMIC_PREFIXES):
            # Without the value, which may be a secret in the wrong place.
            reason = "must not be in the dynamic file"
            dynamic.problems.append(Problem(reason, entry.key, entry.file, entry.line))
    if match := VERSION.fullmatch(path):
        dynamic.entries["version"] = Entry("version", match[1], path)
    return dynamic


def put_server_id(disk: Disk, data_dir: str, properties: Properties) -> None:
    """A standalone server needs no id, so the file may be missing."""
    path = f"{data_dir.rstrip('/')}/myid"
    if not disk.exists(path):
        return
    with disk.open(path, read_only=True) as file:
        lines = file.pread(0, file.size()).decode("latin-1").splitlines()
    properties.entries[MYID] = Entry("myid", lines[0] if lines else "", path, 1)
