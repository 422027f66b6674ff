"""What a client may run into, told apart by what its caller can do about it.

An error of a broker is retried by the client as long as the code allows it and time is left;
what comes out here is final.
"""

from __future__ import annotations

from typing import NamedTuple

from odradek.kafka.wire.errors import ErrorCode
from odradek.runtime.errors import OdradekError


class TopicPartition(NamedTuple):
    """One partition of a topic."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class KafkaClientError(OdradekError):
    """The root of all that a client raises."""


class InvalidSetting(KafkaClientError):
    """A setting that no client could work with."""

    def __init__(self, key: str, value: object, reason: str) -> None:
        super().__init__(f"{key} {reason}" if value is None else f"{key}={value}: {reason}")
        self.key = key
        self.reason = reason


class ConnectionLost(KafkaClientError):
    """A connection could not be made, broke, or stayed silent for too long."""


class NoBroker(KafkaClientError):
    """None of the brokers that we know of can be talked to."""


class TimedOut(KafkaClientError):
    """The time that the caller gave is over; the message says what went wrong last."""


class BrokerRefused(KafkaClientError):
    """A broker answered with an error that no retry helps against."""

    def __init__(self, what: str, code: int, message: str | None = None) -> None:
        super().__init__(f"{what}: {name_of(code)}" + (f" ({message})" if message else ""))
        self.code = code


class UnsupportedApi(KafkaClientError):
    """The broker has no version of an API that we can speak."""


class OffsetOutOfRange(KafkaClientError):
    """The offset asked for is not in the log: aged out, or not written yet."""

    def __init__(self, partition: TopicPartition, offset: int) -> None:
        super().__init__(f"{partition} has no offset {offset}")
        self.partition = partition
        self.offset = offset


class CorruptRecords(KafkaClientError):
    """What came from a broker cannot be taken apart into batches."""

    def __init__(self, partition: TopicPartition, offset: int, reason: object) -> None:
        super().__init__(f"{partition} from offset {offset} on: {reason}")
        self.partition = partition
        self.offset = offset


class UnknownTopic(KafkaClientError):
    """A topic, or a partition of it, that the cluster does not have."""

    def __init__(self, topic: str, what: str = "") -> None:
        super().__init__(what or f"the cluster has no topic {topic}")
        self.topic = topic


def name_of(code: int) -> str:
    """The name of an error code, or its number if it is a newer one."""
    return ErrorCode(code).name if code in ErrorCode._value2member_map_ else f"error {code}"


def is_retriable(code: int) -> bool:
    return code in ErrorCode._value2member_map_ and ErrorCode(code).is_retriable
