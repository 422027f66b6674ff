"""The console beside a cluster of `odradek up`: a process of its own, which ends with the cluster.

Nothing of it is imported here: a cluster serves before anybody looks at it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from odradek.local.directory import ClusterDirectory
from odradek.local.ports import HOST
from odradek.local.process import ServerProcess


@dataclass(frozen=True, slots=True)
class WantedConsole:
    """Where the console shall be, and whether it may change things."""

    port: int
    is_changing: bool = False

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"


@contextmanager
def console_beside(
    wanted: WantedConsole | None,
    home: ClusterDirectory,
    *,
    bootstrap: str,
    zookeeper: str,
    metrics: Sequence[str],
) -> Iterator[None]:
    """Have the console run as long as the block, if it is wanted; it may take its time to start."""
    if wanted is None:
        yield
        return
    directory = home.path / "console"
    directory.mkdir(exist_ok=True)
    command = ["console", "-b", bootstrap, "-z", zookeeper, "--port", str(wanted.port)]
    command += [f"--metrics={it}" for it in metrics]
    if wanted.is_changing:
        command.append("--allow-changes")
    process = ServerProcess("console", command, directory)
    process.spawn()
    try:
        yield
    finally:
        process.ask_to_stop()
        process.await_end()
