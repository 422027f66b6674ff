"""A client on a plain socket: it says what a test wants, also what no client would say."""

from __future__ import annotations

import socket
from typing import Self, TypeVar

from odradek.kafka.wire.connection import ClientConnection
from odradek.kafka.wire.messages.produce import ProduceResponse
from odradek.kafka.wire.schema import Message
from tests.kafka.broker.asking import only, produce_of
from tests.kafka.storage.logs import batch_of
from tests.processes import HOST, ServerProcess

PATIENCE_S = 20.0
Answer = TypeVar("Answer", bound=Message)


class Speaker:
    """One connection."""

    def __init__(self, broker: ServerProcess, receive_bytes: int = 0) -> None:
        self.wire = ClientConnection("test")
        self.socket = socket.socket()
        if receive_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.socket.settimeout(PATIENCE_S)
        self.socket.connect((HOST, broker.port))
        self._answers: list[Message] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def encoded(self, message: Message, version: int) -> bytes:
        self.wire.send(message, version)
        return b"".join(self.wire.take_output())

    def send(self, message: Message, version: int) -> None:
        self.socket.sendall(self.encoded(message, version))

    def receive(self) -> Message:
        """The next answer."""
        while not self._answers:
            data = self.socket.recv(1 << 20)
            if not data:
                raise ConnectionError("the broker has ended the connection")
            self._answers += (it.message for it in self.wire.receive(data))
        return self._answers.pop(0)

    def ask(self, message: Message, version: int, kind: type[Answer]) -> Answer:
        self.send(message, version)
        answer = self.receive()
        assert isinstance(answer, kind)
        return answer

    def is_ended(self) -> bool:
        """Wait until the broker ends the connection."""
        try:
            while self.socket.recv(1 << 20):
                pass
        except ConnectionError:
            return True
        return True

    def put(self, *values: bytes, topic: str = "t") -> int:
        """Produce as one should; return the offset."""
        answer = only(self.ask(produce_of(batch_of(values), topic=topic), 9, ProduceResponse))
        assert answer.error_code == 0
        return answer.base_offset
