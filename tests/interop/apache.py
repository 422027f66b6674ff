"""Apache ZooKeeper, standalone, as a process of its own: fetched by Maven, run by Java.

Whoever lacks one of them skips the tests that need it, and is told which.
"""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Self

from tests.interop.maven import HERE, class_path

MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
START_SECONDS = 60
STOP_SECONDS = 20
POLL_SECONDS = 0.05


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def server_command(config: Path) -> list[str]:
    """What runs a server with a zoo.cfg, alone or as one of several."""
    logging = f"-Dlogback.configurationFile={HERE / 'logback.xml'}"
    jars = class_path("zookeeper-pom.xml")
    return ["java", "-Xmx256m", logging, "-cp", jars, MAIN, str(config)]


class ApacheZooKeeper:
    """A standalone server on `directory`, up inside a `with`. Settings are lines of its zoo.cfg."""

    def __init__(self, directory: Path, settings: Mapping[str, object] | None = None) -> None:
        self.directory = directory
        self.port = free_port()
        self.connect_string = f"127.0.0.1:{self.port}"
        self.log = directory / "server.log"
        self._settings = {
            "tickTime": 2000,
            "dataDir": directory / "data",
            "clientPort": self.port,
            "clientPortAddress": "127.0.0.1",
            "admin.enableServer": "false",
            **(settings or {}),
        }

    def __enter__(self) -> Self:
        config = self.directory / "zoo.cfg"
        command = server_command(config)
        lines = (f"{key}={value}\n" for key, value in self._settings.items())
        config.write_text("".join(lines))
        with self.log.open("a") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            self._wait_until_up()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Ask it to end, and see to it."""
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End it as a crash would."""
        self._process.kill()
        self._process.wait()

    def _wait_until_up(self) -> None:
        deadline = monotonic() + START_SECONDS
        while not self._answers():
            assert monotonic() < deadline, f"it does not start:\n{self.log.read_text()}"
            assert not self._has_ended(), f"it ended:\n{self.log.read_text()}"

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(b"srvr")
                return connection.recv(9) == b"Zookeeper"
        except OSError:
            return False

    def _has_ended(self) -> bool:
        try:
            self._process.wait(POLL_SECONDS)
        except subprocess.TimeoutExpired:
            return False
        return True
