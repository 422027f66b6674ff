"""Administrators are answered alike by Apache's broker and by ours, whatever they ask."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from odradek.kafka.wire.connection import ClientConnection
from odradek.kafka.wire.schema import Message, Struct
from tests.interop.admin_questions import all_questions
from tests.interop.apache_kafka import apache_broker
from tests.kafka.server.running import running_broker
from tests.processes import HOST
from tests.zookeeper.server.running import running_server

PATIENCE_S = 30
IDS = {"topic_id", "cluster_id"}  # By chance: only whether there is one can be compared.
WORDS = {"error_message", "log_dir"}  # Null and empty differ; what is said need not be the same.
ROOM = {"total_bytes", "usable_bytes"}


class Asking:
    """One connection to a broker."""

    def __init__(self, port: int, connection: socket.socket) -> None:
        self.port = port
        self._connection = connection
        self._wire = ClientConnection("administrator")

    def ask(self, message: Message, version: int) -> Any:
        """The answer, without what no two brokers have in common."""
        self._wire.send(message, version)
        self._connection.sendall(b"".join(self._wire.take_output()))
        while data := self._connection.recv(1 << 20):
            for response in self._wire.receive(data):
                return self._comparable(response.message)
        raise ConnectionError(f"the broker at {self.port} ended the connection")

    def _comparable(self, value: Any, name: str = "") -> Any:
        if isinstance(value, Struct):
            fields = type(value).__declared__
            return {it: self._comparable(getattr(value, it), it) for it in fields}
        if isinstance(value, list):
            return sorted((self._comparable(it, name) for it in value), key=repr)
        if name in ROOM:
            return value > 0
        if name in IDS:
            return any(value or ())
        if name in WORDS and value:
            return "words"
        return "its port" if value == self.port else value


@contextmanager
def asking(port: int) -> Iterator[Asking]:
    with socket.create_connection((HOST, port), PATIENCE_S) as connection:
        yield Asking(port, connection)


def test_every_question_is_answered_alike(tmp_path: Path) -> None:
    with (
        running_server(tmp_path / "zookeeper") as zookeeper,
        apache_broker(
            tmp_path / "apache", **{"zookeeper.connect": zookeeper.connect_string}
        ) as theirs,
        running_broker(tmp_path / "ours") as ours,
        asking(theirs.port) as apache,
        asking(ours.port) as odradek,
    ):
        for message, version in all_questions():
            expected = apache.ask(message, version)
            assert odradek.ask(message, version) == expected, (message, version)
