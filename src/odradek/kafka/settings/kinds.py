"""Kinds of setting that only Kafka has, and the numbers that its defaults are made of."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from enum import Enum

from odradek.runtime.kinds import INT, LIST, LONG, STRING, Kind, choice

INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1
DOUBLE_MAX = sys.float_info.max
DAY_MS = 24 * 60 * 60 * 1000

HOST = re.compile(r"[0-9a-zA-Z\-%._:]*")
REPLICA = re.compile(r"[0-9]+:[0-9]+")
VOTER = re.compile(r"[0-9]+@\[?[0-9a-zA-Z\-%._:]+\]?:[0-9]+")
EVERY_REPLICA = "*"


class CompressionType(Enum):
    """How batches are compressed on disk; `producer` leaves each as it came."""

    UNCOMPRESSED = "uncompressed"
    ZSTD = "zstd"
    LZ4 = "lz4"
    SNAPPY = "snappy"
    GZIP = "gzip"
    PRODUCER = "producer"


class TimestampType(Enum):
    """Whose clock a record's timestamp is read from: the producer's or the broker's."""

    CREATE_TIME = "CreateTime"
    LOG_APPEND_TIME = "LogAppendTime"


class ClientAuth(Enum):
    """Whether a TLS client must show a certificate."""

    REQUIRED = "required"
    REQUESTED = "requested"
    NONE = "none"


def readable(read: Callable[[str], object]) -> Kind[str]:
    """A text that stays as it was written, once `read` has taken it without complaint.

    Kafka describes such a setting by its text, so `2.8` must not become `2.8-IV1`.
    """

    def check(text: str) -> str:
        read(text)
        return text

    return Kind("STRING", check)


def read_connection_limits(text: str) -> dict[str, int]:
    """`host:count` pairs; the last colon parts, for an address may hold colons too."""
    limits = {}
    for pair in LIST.read(text):
        host, colon, count = pair.rpartition(":")
        if not colon or not HOST.fullmatch(host):
            raise ValueError("must be a list of host:count, such as 127.0.0.1:10")
        limits[host] = INT.read(count)
    return limits


def is_throttled(replicas: tuple[str, ...]) -> bool:
    return replicas == (EVERY_REPLICA,) or all(map(REPLICA.fullmatch, replicas))


POSITIVE = INT.at_least(1)
NATURAL = INT.at_least(0)
POSITIVE_LONG = LONG.at_least(1)
NATURAL_LONG = LONG.at_least(0)
POOL_SIZE = INT.where(lambda size: size == -1 or size > 0, "must be -1 or at least 1")
NOT_BLANK = STRING.where(bool, "must not be empty")
CLEANUP_POLICY = LIST.items_of("compact", "delete")
THROTTLED_REPLICAS = LIST.where(is_throttled, "must be * or a list of partition:broker")
VOTERS = LIST.where(lambda them: all(map(VOTER.fullmatch, them)), "must be a list of id@host:port")
CONNECTION_LIMITS = readable(read_connection_limits)
MIGRATION_POLICY = STRING.where(
    lambda text: text.lower() in ("disabled", "downgrade", "upgrade", "bidirectional"),
    "must be one of disabled, downgrade, upgrade, bidirectional",
)
COMPRESSION_TYPE: Kind[CompressionType] = choice(CompressionType)
TIMESTAMP_TYPE: Kind[TimestampType] = choice(TimestampType)
CLIENT_AUTH: Kind[ClientAuth] = choice(ClientAuth)
