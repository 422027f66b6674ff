"""What a broker answers, as text that any two brokers with the same history have in common.

A line is a struct: its plain fields, then its structs below it, one step further in. What no two
brokers share has a name instead: ports, ids that are drawn, the time of day, the words in which
something is refused.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any, TypeVar

from odradek.kafka.wire.batch import cut_entries, read_batches
from odradek.kafka.wire.connection import ClientConnection
from odradek.kafka.wire.message_set import read_message_set
from odradek.kafka.wire.messages.metadata import MetadataRequest, MetadataResponse
from odradek.kafka.wire.records import read_records
from odradek.kafka.wire.schema import ZERO_UUID, Message, Struct, fields_of
from tests.processes import HOST
from tests.waiting import wait_until

R = TypeVar("R", bound=Message)
PATIENCE_S = 20
MAGIC_POSITION = 16
# All records of the dialogues are older than this; what is younger was stamped by a broker.
THE_PAST_ENDS_MS = 1_750_000_000_000
DRAWN = {"cluster_id": "CLUSTER", "session_id": "SESSION", "log_dir": "DIRECTORY"}
MEASURED = {"total_bytes", "usable_bytes"}
OWN = {"listeners", "log.dirs", "zookeeper.connect"}  # Configs that no two brokers share.


class Transcript:
    """A connection to a broker, and all that was said on it."""

    def __init__(self, port: int, client_id: str = "dialogue") -> None:
        self.lines: list[str] = []
        self._client_id = client_id
        self._port = port
        self._topic_ids: list[bytes] = []
        self._connect()

    def __enter__(self) -> Transcript:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def wait_until_up(self) -> None:
        """Wait until the broker knows of itself and of a controller."""
        wait_until(self._is_up, PATIENCE_S)

    def title(self, text: str) -> None:
        self.lines += ["", f"# {text}"]

    def ask(self, message: Message, version: int, response: type[R], note: str = "") -> R:
        """Ask, and write down question and answer."""
        answer = self.ask_silently(message, version, response)
        self.write(message, version, answer, note)
        return answer

    def write(self, message: Message, version: int, answer: Message, note: str = "") -> None:
        self.lines.append(f"{type(message).__name__} v{version} {note}".rstrip())
        self.lines += self._told(answer, "", 1)

    def ask_silently(self, message: Message, version: int, response: type[R]) -> R:
        answer = self._exchange(message, version)
        assert isinstance(answer, response), answer
        return answer

    def provoke(self, message: Message, version: int, note: str = "") -> None:
        """Ask what makes the broker hang up."""
        try:
            self.write(message, version, self._exchange(message, version), note)
        except ConnectionError:
            self.lines += [f"{type(message).__name__} v{version} {note}".rstrip(), "  hangs up"]
            self._connect()

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def _connect(self) -> None:
        self._wire = ClientConnection(self._client_id)
        self._socket = socket.create_connection((HOST, self._port), PATIENCE_S)

    def _is_up(self) -> bool:
        answer = self.ask_silently(MetadataRequest(topics=[]), 12, MetadataResponse)
        return bool(answer.brokers) and answer.controller_id >= 0

    def _exchange(self, message: Message, version: int) -> Message:
        self._wire.send(message, version)
        self._socket.sendall(b"".join(map(bytes, self._wire.take_output())))
        while True:
            count = self._socket.recv_into(self._wire.get_buffer())
            if not count:
                raise ConnectionResetError
            for response in self._wire.receive(count):
                return response.message

    def _told(self, struct: Struct, label: str, depth: int) -> Iterator[str]:
        """The lines of a struct."""
        plain, below = [label] if label else [], []
        for field in fields_of(type(struct)):
            value = getattr(struct, field.name)
            if field.name == "records":
                below += [f"{'  ' * (depth + 1)}{line}" for line in told_records(value)]
            elif isinstance(value, Struct):
                below += self._told(value, f"{field.name}:", depth + 1)
            elif isinstance(value, list) and value and isinstance(value[0], Struct):
                for each in in_order(field.name, value):
                    below += self._told(each, f"{field.name}:", depth + 1)
            elif field.name == "value" and getattr(struct, "name", "") in OWN:
                plain.append("value=OWN")
            else:
                plain.append(f"{field.name}={self._plain(field.name, value)}")
        yield "  " * depth + " ".join(plain)
        yield from below

    def _plain(self, name: str, value: Any) -> str:
        if name in DRAWN and value:
            return DRAWN[name]
        if name in MEASURED and value >= 0:
            return "MEASURED"
        if name.endswith("error_message") and value:
            return "TEXT"
        if name == "port" and value == self._port:
            return "PORT"
        if name == "topic_id":
            return self._topic(value)
        return time_or_number(value) if type(value) is int else repr(value)

    def _topic(self, topic_id: bytes) -> str:
        """Topic ids are numbered as they appear; the dialogues' own have equal bytes."""
        if topic_id == ZERO_UUID:
            return "NONE"
        if len(set(topic_id)) == 1:
            return topic_id.hex()
        if topic_id not in self._topic_ids:
            self._topic_ids.append(topic_id)
        return f"#{self._topic_ids.index(topic_id) + 1}"


UNORDERED = {"configs": "name", "partitions": "partition_index"}


def in_order(name: str, structs: list[Any]) -> list[Any]:
    """Kafka lists configs and partitions in no order, for it keeps them in hash maps."""
    key = UNORDERED.get(name, "")
    return (
        sorted(structs, key=lambda each: getattr(each, key))
        if hasattr(structs[0], key)
        else structs
    )


def time_or_number(value: int) -> str:
    return "NOW" if THE_PAST_ENDS_MS < value < 2 * THE_PAST_ENDS_MS else str(value)


def told_records(data: Any) -> Iterator[str]:
    """What is in a record set, of any magic; how it is compressed is left out."""
    for entry in cut_entries(memoryview(data or b"")):
        magic = entry[MAGIC_POSITION]
        yield f"magic {magic}"
        if magic < 2:
            records = read_message_set(entry)
        else:
            (batch,) = read_batches(entry)
            yield " ".join(
                f"{name}={time_or_number(getattr(batch, name))}"
                for name in batch.__slots__
                if name not in ("data", "crc")
            )
            records = read_records(batch)
        for record in records:
            yield (
                f"{record.offset} at {time_or_number(record.timestamp)} "
                f"{record.key!r} {record.value!r} {list(record.headers)!r}"
            )
