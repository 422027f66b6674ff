"""A ZooKeeper server of ours as users run it: a process of its own, on a free port of loopback.

    with running_server(tmp_path, tickTime=200) as server:
        client = KazooClient(server.connect_string)

The server is stopped by SIGTERM at the end, and killed if it does not heed that. In between a
test may `stop`, `kill` and `start` it: port and directory stay the same.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.zookeeper.server.waiting import wait_until

HOST = "127.0.0.1"
STOP_WITHIN_S = 10
DEFAULTS: dict[str, object] = {
    "tickTime": 2000,
    "clientPortAddress": HOST,
    "admin.enableServer": "false",
    "preAllocSize": 64,  # Kibibytes: tests write little, and many servers write at once.
}


class RunningServer:
    """One server: its directory, its port, and its process while it runs."""

    def __init__(self, directory: Path, settings: Mapping[str, object], jvm_flags: str) -> None:
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._log = directory / "server.log"
        self._file = directory / "zoo.cfg"
        self._flags = jvm_flags
        given = {
            **DEFAULTS,
            "dataDir": directory / "data",
            "clientPort": self.port,
            **settings,
        }
        directory.mkdir(parents=True, exist_ok=True)
        self._file.write_text("".join(f"{key}={value}\n" for key, value in given.items()))

    @property
    def connect_string(self) -> str:
        return f"{HOST}:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def log(self) -> str:
        """What the server has said so far."""
        return self._log.read_text()

    def start(self) -> None:
        """Start the process, and wait until it takes connections."""
        command = [sys.executable, "-m", "odradek.cli", "zookeeper", str(self._file)]
        environment = os.environ | {"SERVER_JVMFLAGS": self._flags}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, stderr=log, env=environment)
        wait_until(self._is_open)

    def stop(self) -> None:
        """Ask the process to end; it leaves its files in order."""
        self._end(subprocess.Popen.terminate)

    def kill(self) -> None:
        """End the process as a crash would."""
        self._end(subprocess.Popen.kill)

    def resident_bytes(self) -> int:
        """How much memory the process holds."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def _end(self, by: Callable[[subprocess.Popen[bytes]], None]) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        by(process)
        try:
            process.wait(STOP_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise

    def _is_open(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, f"the server did not start:\n{self.log}"
        with suppress(OSError), socket.create_connection((HOST, self.port), 1):
            return True
        return False


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


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
