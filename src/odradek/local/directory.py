"""The directory of a local cluster: whose it is, what stands in it, and who runs on it.

`cluster.json` says what the cluster consists of and where it is reached; one process at a time owns
the directory. A directory with other things in it, or with a cluster of another shape, is refused:
a broker that comes back under another name has lost its data.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from odradek.local.errors import ForeignDirectory
from odradek.local.plan import ClusterPlan, plan_from_json
from odradek.runtime.disk import DirectoryLock, DirectoryLocked
from odradek.runtime.os_disk import OsDisk

DEFAULT = ".odradek"
FILE = "cluster.json"
FORMAT = 1
IGNORED = {".lock", ".gitignore"}


class ClusterDirectory:
    """One directory, owned from `own` to `release`."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._lock: DirectoryLock | None = None

    def own(self) -> None:
        """Make it if need be, and be the only one who uses it."""
        if self.path.exists() and not self.path.is_dir():
            raise ForeignDirectory(f"{self.path} is a file: a directory is needed")
        self._refuse_strangers()
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            self._lock = OsDisk().lock_directory(str(self.path))
        except DirectoryLocked as error:
            raise ForeignDirectory(
                f"another cluster runs on {self.path}: stop it, or name another with --data"
            ) from error
        # Whoever works in a repository does not want it there.
        (self.path / ".gitignore").write_text("*\n")

    def release(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _refuse_strangers(self) -> None:
        if not self.path.is_dir() or (self.path / FILE).exists():
            return
        others = sorted({it.name for it in self.path.iterdir()} - IGNORED)
        if others:
            raise ForeignDirectory(
                f"{self.path} holds other things ({', '.join(others[:3])}): "
                "name an empty directory, or one of a local cluster"
            )

    def known_plan(self) -> ClusterPlan | None:
        """What the cluster was when it ran last."""
        said = read_file(self.path)
        if said is None:
            return None
        try:
            return plan_from_json(said)
        except (KeyError, TypeError, ValueError) as error:
            raise ForeignDirectory(
                f"{self.path / FILE} is not one of ours, or of a later version: {error}"
            ) from error

    def write(self, plan: ClusterPlan, zookeeper: str = "") -> None:
        """Say what runs here and where."""
        said = {
            "format": FORMAT,
            "pid": os.getpid(),
            "bootstrap": plan.bootstrap,
            "zookeeper": zookeeper or plan.zookeeper,
            **plan.as_json(),
        }
        fresh = self.path / f"{FILE}.new"
        fresh.write_text(json.dumps(said, indent=2) + "\n")
        fresh.replace(self.path / FILE)


def read_file(path: Path) -> dict[str, Any] | None:
    """What `cluster.json` says; None if there is none."""
    try:
        said = json.loads((path / FILE).read_text())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError as error:
        raise ForeignDirectory(f"{path / FILE} cannot be read: {error}") from error
    if not isinstance(said, dict) or said.get("format") != FORMAT:
        raise ForeignDirectory(f"{path / FILE} is not one of ours, or of a later version")
    return said


def is_running(path: Path) -> bool:
    """Whether somebody owns the directory just now."""
    if not path.is_dir():
        return False
    try:
        OsDisk().lock_directory(str(path)).release()
    except DirectoryLocked:
        return True
    except OSError:
        return False
    return False


def running_address(path: Path) -> tuple[str, str] | None:
    """Brokers and ZooKeepers of the cluster that runs on a directory, if one does."""
    said = read_file(path)
    if said is None or not is_running(path):
        return None
    return str(said.get("bootstrap", "")), str(said.get("zookeeper", ""))
