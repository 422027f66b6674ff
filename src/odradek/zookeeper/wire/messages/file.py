"""The start of a transaction log or of a snapshot."""

from __future__ import annotations

from odradek.zookeeper.wire.jute import Int, Long, Record


class FileHeader(Record):
    magic: Int
    version: Int
    dbid: Long
