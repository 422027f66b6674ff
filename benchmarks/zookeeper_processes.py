"""ZooKeeper servers as processes of their own: one, or an ensemble, from an empty directory."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from struct import pack
from tempfile import TemporaryDirectory

from benchmarks.zookeeper_server import environment, warm
from odradek.zookeeper.wire.connection import ClientConnection
from odradek.zookeeper.wire.messages.session import ConnectRequest, ConnectResponse

ODRADEK = [sys.executable, "-m", "odradek.cli", "zookeeper", "{zoo_cfg}"]
HOST = "127.0.0.1"
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
SESSION_MS = 30_000


class ServerProcess:
    """One server: where its clients go, and what it costs."""

    def __init__(self, command: list[str], home: Path, port: int, env: dict[str, str]) -> None:
        self.port = port
        self._command = [word.replace("{zoo_cfg}", str(home / "zoo.cfg")) for word in command]
        self._log = home / "server.log"
        self._env = env
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self._log.open("ab") as log:
            # A group of its own, as a launcher may start the server as a child.
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=log, env=self._env, process_group=0
            )

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        process, self._process = self._process, None
        if process is not None:
            os.killpg(process.pid, number)
            process.wait()

    def cpu_s(self) -> float:
        """What the process has used so far, in all its threads, of both kinds."""
        assert self._process is not None
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS_A_SECOND

    def rss_mb(self) -> float:
        assert self._process is not None
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        (line,) = (it for it in status.splitlines() if it.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024

    def word(self, word: bytes) -> bytes:
        """What the server says to a four-letter word; nothing if it cannot be reached."""
        try:
            with socket.create_connection((HOST, self.port), timeout=5) as asking:
                asking.sendall(word)
                return b"".join(iter(lambda: asking.recv(65536), b""))
        except OSError:
            return b""


def zoo_cfg(home: Path, port: int, ports: list[int], tick_ms: int) -> str:
    lines = [
        f"tickTime={tick_ms}",
        "initLimit=10",
        "syncLimit=5",
        f"dataDir={home / 'data'}",
        f"clientPort={port}",
        "maxClientCnxns=0",
        "admin.enableServer=false",
        "4lw.commands.whitelist=*",
    ]
    if len(ports) > 1:
        lines += (
            f"server.{number}={HOST}:{each + 1}:{each + 2}" for number, each in enumerate(ports, 1)
        )
    return "\n".join(lines) + "\n"


@contextmanager
def servers(
    count: int, command: list[str] | None = None, *, port_base: int = 23500, tick_ms: int = 2000
) -> Iterator[list[ServerProcess]]:
    """Directories and processes for so many servers, not yet started; all is gone afterwards."""
    with TemporaryDirectory() as directory, TemporaryDirectory() as cache:
        warm(cache)
        ports = [port_base + 10 * number for number in range(count)]
        made = []
        for number, port in enumerate(ports, 1):
            home = Path(directory) / str(number)
            (home / "data").mkdir(parents=True)
            (home / "data" / "myid").write_text(f"{number}\n")
            (home / "zoo.cfg").write_text(zoo_cfg(home, port, ports, tick_ms))
            made.append(ServerProcess(command or ODRADEK, home, port, environment(cache)))
        try:
            yield made
        finally:
            for server in made:
                server.stop(signal.SIGKILL)


def try_session(port: int, timeout_s: float) -> socket.socket | None:
    """A socket with a session on it, if the server gives one in time."""
    request = ConnectRequest(0, 0, SESSION_MS, 0, bytes(16), False)
    try:
        talking = socket.create_connection((HOST, port), timeout=timeout_s)
    except OSError:
        return None
    try:
        talking.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        talking.sendall(ClientConnection().connect(request))
        answer = read_frame(talking)
        if answer is not None and ConnectResponse.decode(answer).time_out > 0:
            return talking
    except OSError:
        pass
    talking.close()
    return None


def session(server: ServerProcess) -> socket.socket:
    """A socket with a session on it, however long the server takes to begin."""
    while (talking := try_session(server.port, 5.0)) is None:
        pass
    return talking


def read_frame(talking: socket.socket) -> bytes | None:
    """The next frame, or None if the other end is gone."""
    length = read_whole(talking, 4)
    return None if length is None else read_whole(talking, int.from_bytes(length, "big"))


def read_whole(talking: socket.socket, count: int) -> bytes | None:
    data = b""
    while len(data) < count:
        piece = talking.recv(count - len(data))
        if not piece:
            return None
        data += piece
    return data


def framed(body: bytes) -> bytes:
    return pack(">i", len(body)) + body
