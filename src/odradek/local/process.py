"""One server: a process that is started, watched and ended, with its log beside its files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from odradek.local.errors import ServerDied

STOP_WITHIN_S = 30.0
LAST_LINES = 8
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class ServerProcess:
    """A server by its name. The process changes with each start, the rest stays."""

    def __init__(self, name: str, command: list[str], directory: Path) -> None:
        self.name = name
        self.directory = directory
        self.log = directory / "server.log"
        self.restarts = 0
        self.is_wanted = False  # Whether it should run: a stop or a kill is no accident.
        self._command = [sys.executable, "-m", "odradek.local.child", *command]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def spawn(self, environment: Mapping[str, str] | None = None) -> None:
        """Start the process, and wait for nothing."""
        assert not self.is_alive
        self._let_go()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=os.environ | dict(environment or {}),
                start_new_session=True,  # Ctrl-C is for whoever started us.
            )
        self.is_wanted = True

    def ask_to_stop(self) -> None:
        """Have it end by itself, with its files in order."""
        self.is_wanted = False
        self.send(signal.SIGCONT)  # Who is paused hears nothing.
        self.send(signal.SIGTERM)

    def await_end(self, within_s: float = STOP_WITHIN_S) -> None:
        """Return when it has ended; who does not heed is killed."""
        if self._process is not None:
            try:
                self._process.wait(within_s)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._let_go()

    def kill(self) -> None:
        """End it as a crash would."""
        self.is_wanted = False
        self.send(signal.SIGKILL)
        self.await_end()

    def send(self, number: signal.Signals) -> None:
        if self.is_alive and self._process is not None:
            self._process.send_signal(number)

    def check(self) -> None:
        """Raise `ServerDied` if it has, with the last that it said."""
        if not self.is_alive:
            raise ServerDied(f"{self.name} ended:\n{self.last_words()}\nsee {self.log}")

    def last_words(self) -> str:
        with suppress(OSError):
            lines = self.log.read_text(errors="replace").splitlines()
            return "\n".join(f"  {line}" for line in lines[-LAST_LINES:])
        return ""

    def resident_bytes(self) -> int | None:
        """How much memory it holds; None if it does not run or the system does not tell."""
        if self._process is None or not self.is_alive:
            return None
        with suppress(OSError, IndexError, ValueError):
            return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * PAGE_BYTES
        return self._resident_by_ps()

    def _resident_by_ps(self) -> int | None:
        with suppress(OSError, ValueError):
            said = subprocess.run(["ps", "-o", "rss=", "-p", str(self.pid)], capture_output=True)
            return int(said.stdout) * 1024
        return None

    def _let_go(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
