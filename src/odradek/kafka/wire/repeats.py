"""A produce that is just like the one before it, but for its records.

Who writes one small batch after another sends the same bytes around them again and again: the same
client, the same topic and partition, the same wishes. Once two in a row were alike, the next is
known by those bytes and need not be read, and its answer is the last one with other numbers in it.
What differs in anything is not known, and is read as ever.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from odradek.kafka.wire.codec import encode
from odradek.kafka.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from odradek.kafka.wire.varint import unsigned_varint

FRAME_BYTES_MAX = 16 * 1024  # Of larger ones reading is the smallest part.
RESTS = 64  # So many produces are read without a look at what they repeat, where it was no use.
FIRST_WITH_START_OFFSET = 5
FIRST_FLEXIBLE = 9
ANSWERED_AT_ONCE = (1, -1)  # The acks of those who want an answer.
NO_TAGS = b"\0\0\0"  # Behind the records: of the partition, of the topic, of the request.
LENGTH = Struct(">i")
START = Struct(">4si")  # Key and version together, correlation id.
NUMBERS = Struct(">qqq")  # Base offset, append time, start offset.
MARKS = (-0x7EDCBA9876543211, -0x7FEDCBA987654322, -0x6FEDCBA987654323)  # In no name of a topic.


class Usual:
    """What a connection asks again and again, and how it is answered."""

    __slots__ = (
        "_after",
        "_before",
        "_end",
        "_form",
        "_head",
        "_is_flexible",
        "_kind",
        "_size",
        "_tail",
        "index",
        "is_for_all",
        "topic",
    )

    def __init__(self, frame: bytes, end: int, version: int, message: ProduceRequest) -> None:
        (topic,) = message.topic_data
        (partition,) = topic.partition_data
        self.topic, self.index = topic.name, partition.index
        self.is_for_all = message.acks == -1
        self._is_flexible = version >= FIRST_FLEXIBLE
        self._tail = NO_TAGS if self._is_flexible else b""
        self._kind, self._head = frame[:4], frame[START.size : end]
        self._end = end
        self._before, self._after = answer_around(version, self.topic, self.index)
        self._form = Struct(f">ii{len(self._before)}sqqq{len(self._after)}s")
        self._size = self._form.size - LENGTH.size

    def records_in(self, frame: bytes) -> memoryview | None:
        """The records, if the frame is like those before in all else."""
        at = self._end
        if not (frame.startswith(self._kind) and frame.startswith(self._head, START.size)):
            return None
        end = len(frame) - len(self._tail)
        if end < at + LENGTH.size or not frame.endswith(self._tail):
            return None
        if not self._is_flexible:
            (size,) = LENGTH.unpack_from(frame, at)
            at += LENGTH.size
        elif (low := frame[at]) < 128:
            size, at = low - 1, at + 1
        elif (high := frame[at + 1]) < 128:
            size, at = (low & 127 | high << 7) - 1, at + 2
        else:
            return None
        return memoryview(frame)[at:end] if size == end - at else None

    def answer(
        self, correlation_id: int, base_offset: int, append_time_ms: int, start_offset: int
    ) -> bytes:
        """The whole frame that says that all is well."""
        return self._form.pack(
            self._size,
            correlation_id,
            self._before,
            base_offset,
            append_time_ms,
            start_offset,
            self._after,
        )


class Repeat(NamedTuple):
    """One more of the usual."""

    usual: Usual
    correlation_id: int
    records: memoryview
    size: int  # Of its frame, in bytes.


class Repeats:
    """What one connection has asked last."""

    __slots__ = ("_last", "_resting", "usual")

    def __init__(self) -> None:
        self._last = b""  # All that stood before the length of the records, less the numbers.
        self._resting = 0
        self.usual: Usual | None = None

    def note(self, frame: bytes, version: int, message: ProduceRequest) -> None:
        """A produce was read: what comes next may be like it."""
        if self._resting:
            self._resting -= 1
            return
        end = end_of_head(frame, version, message)
        if end is None:
            return
        asked = frame[:4] + frame[START.size : end]
        if asked != self._last:
            self._last = asked
        elif self.usual is None or self.usual.records_in(frame) is None:
            self.usual = Usual(frame, end, version, message)

    def rest(self) -> None:
        """The usual one had to be read after all, and so will be what follows, most likely."""
        self._last, self._resting, self.usual = b"", RESTS, None

    def find(self, frame: bytes) -> Repeat | None:
        """The request in a frame, if it is the usual one."""
        usual = self.usual
        if usual is None or (records := usual.records_in(frame)) is None:
            return None
        return Repeat(usual, START.unpack_from(frame)[1], records, len(frame))


def end_of_head(frame: bytes, version: int, message: ProduceRequest) -> int | None:
    """Where the length of the records stands; None if this is no produce that could be repeated."""
    if message.transactional_id is not None or message.acks not in ANSWERED_AT_ONCE:
        return None
    if version < FIRST_WITH_START_OFFSET or len(message.topic_data) != 1:
        return None
    partitions = message.topic_data[0].partition_data
    if len(partitions) != 1 or not (records := partitions[0].records):
        return None
    is_flexible = version >= FIRST_FLEXIBLE
    tail = NO_TAGS if is_flexible else b""
    length = unsigned_varint(len(records) + 1) if is_flexible else LENGTH.pack(len(records))
    start = len(frame) - len(tail) - len(records)
    is_so = frame.endswith(tail) and frame[start : start + len(records)] == records
    if not is_so or not frame.startswith(length, start - len(length)):
        return None  # Something else follows, or it is written in another way.
    return start - len(length)


def answer_around(version: int, topic: str, index: int) -> tuple[bytes, bytes]:
    """What stands before and behind the numbers of an answer, from behind its correlation id on."""
    base_offset, append_time_ms, start_offset = MARKS
    part = PartitionProduceResponse(
        index=index,
        error_code=0,
        base_offset=base_offset,
        log_append_time_ms=append_time_ms,
        log_start_offset=start_offset,
    )
    response = ProduceResponse(
        responses=[TopicProduceResponse(name=topic, partition_responses=[part])]
    )
    data = b"".join(encode(response, version))
    at = data.index(NUMBERS.pack(*MARKS))
    tags = b"\0" if version >= FIRST_FLEXIBLE else b""  # Of the answer's header.
    return tags + data[:at], data[at + NUMBERS.size :]
