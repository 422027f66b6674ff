"""A ZooKeeper server of ours, in a process of its own.

with running_server(tmp_path, tickTime=200) as server:
    client = KazooClient(server.connect_string)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.processes import HOST, ServerProcess, free_port, properties_text

DEFAULTS: dict[str, object] = {
    "tickTime": 2000,
    "clientPortAddress": HOST,
    "admin.enableServer": "false",
    "preAllocSize": 64,  # Kibibytes: tests write little, and many servers write at once.
}


class RunningServer(ServerProcess):
    """One server, and its zoo.cfg."""

    def __init__(self, directory: Path, settings: Mapping[str, object], jvm_flags: str) -> None:
        file = directory / "zoo.cfg"
        environment = {"SERVER_JVMFLAGS": jvm_flags}
        super().__init__(directory, ["zookeeper", str(file)], free_port(), environment)
        given = {"dataDir": directory / "data", "clientPort": self.port}
        file.write_text(properties_text({**DEFAULTS, **given, **settings}))

    @property
    def connect_string(self) -> str:
        return self.address


@contextmanager
def running_server(
    directory: Path, jvm_flags: str = "", /, **settings: object
) -> Iterator[RunningServer]:
    """A server that runs as long as the block; settings are lines of its zoo.cfg."""
    server = RunningServer(directory, settings, jvm_flags)
    try:
        server.start()
        yield server
    finally:
        server.stop()
