"""Messages to bytes and back, compiled per message and version on first use."""

from __future__ import annotations

import struct
from typing import TypeVar

from odradek.kafka.wire.readers import Reader, compile_reader
from odradek.kafka.wire.schema import Message
from odradek.kafka.wire.writers import NotRepresentable, Writer, compile_writer
from odradek.runtime.errors import ProtocolError

M = TypeVar("M", bound=Message)
Buffer = bytes | bytearray | memoryview


class UnknownVersion(ProtocolError):
    """A message was asked for, or sent, in a version that it never had."""


def decode(kind: type[M], version: int, data: Buffer) -> M:
    """Read a message. What follows it is left alone, as Kafka leaves it."""
    return read(kind, version, data, 0)[0]


def read(kind: type[M], version: int, data: Buffer, position: int) -> tuple[M, int]:
    """Read a message that starts at a position; say also where it ends."""
    reader = kind.__wire__.readers.get(version) or reader_of(kind, version)
    try:
        return reader(data, position)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ProtocolError(f"{kind.__name__} version {version}: {error}") from error


def encode(message: Message, version: int) -> list[Buffer]:
    """Write a message: buffers to send one after another; record data is not copied."""
    writer = type(message).__wire__.writers.get(version) or writer_of(type(message), version)
    try:
        return writer(message)
    except (struct.error, AttributeError, TypeError, UnicodeEncodeError) as error:
        raise NotRepresentable(f"{type(message).__name__} version {version}: {error}") from error


def reader_of(kind: type[Message], version: int) -> Reader:
    """The compiled reader, compiled now if it was not."""
    check_version(kind, version)
    reader = kind.__wire__.readers[version] = compile_reader(kind, version)
    return reader


def writer_of(kind: type[Message], version: int) -> Writer:
    """The compiled writer, compiled now if it was not."""
    check_version(kind, version)
    writer = kind.__wire__.writers[version] = compile_writer(kind, version)
    return writer


def check_version(kind: type[Message], version: int) -> None:
    if not kind.__wire__.versions.covers(version):
        raise UnknownVersion(
            f"{kind.__name__} has versions {kind.__wire__.versions}, not {version}"
        )
