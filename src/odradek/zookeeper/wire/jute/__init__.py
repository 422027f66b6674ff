"""Jute, the encoding of every ZooKeeper record: declared once, compiled on first use."""

from odradek.zookeeper.wire.jute.reader import compile_reader
from odradek.zookeeper.wire.jute.record import (
    Bool,
    Buffer,
    Int,
    Long,
    Record,
    String,
    Vector,
)
from odradek.zookeeper.wire.jute.writer import compile_writer

__all__ = [
    "Bool",
    "Buffer",
    "Int",
    "Long",
    "Record",
    "String",
    "Vector",
    "compile_reader",
    "compile_writer",
]
