"""Servers of ours as users run them: a process of its own, on a free port of loopback.

A server is stopped by SIGTERM at the end, and killed if it does not heed that. In between a test
may `stop`, `kill` and `start` it: port and directory stay the same.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from random import SystemRandom

from tests.waiting import wait_until

HOST = "127.0.0.1"
STOP_WITHIN_S = 20
PORTS = (15_000, 32_000)
given_ports: set[int] = set()


class ServerProcess:
    """One server: its directory, its port, and its process while it runs."""

    def __init__(
        self,
        directory: Path,
        command: list[str],
        port: int,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.port = port
        self._command = [sys.executable, "-m", "odradek.cli", *command]
        self._environment = os.environ | (environment or {})
        self._process: subprocess.Popen[bytes] | None = None
        self._log = directory / "server.log"

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def log(self) -> str:
        """What the server has said so far."""
        return self._log.read_text()

    def spawn(self) -> subprocess.Popen[bytes]:
        """Start the process, and wait for nothing."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._command, stderr=log, env=self._environment)
        return self._process

    def start(self) -> None:
        """Start the process, and wait until it takes connections."""
        self.spawn()
        wait_until(self.is_ready)

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

    def is_ready(self) -> bool:
        """Whether it takes connections; that it has died is told at once."""
        assert self._process is not None
        assert self._process.poll() is None, f"the server did not start:\n{self.log}"
        with suppress(OSError), socket.create_connection((HOST, self.port), 1):
            return True
        return False

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


def properties_text(given: Mapping[str, object]) -> str:
    return "".join(f"{key}={value}\n" for key, value in given.items())


def free_port() -> int:
    """A port that nobody listens on just now, another one each time.

    It is none that the kernel gives to outgoing connections: otherwise one of those could have it
    when a server that was killed wants it back.
    """
    while True:
        port = SystemRandom().randrange(*PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind((HOST, port))
            if port not in given_ports:
                given_ports.add(port)
                return port
