"""The requests of a follower.

One that keeps up asks for what comes next of one partition, again and again. All but the session's
epoch and the offset is as it was the last time; so what was written then is sent again, with these
two numbers in their places. To write it anew costs a follower as much as to store a small batch,
and whoever produced that batch waits.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from odradek.kafka.replication.fetch_session import INITIAL_EPOCH, Question, topics_of
from odradek.kafka.wire.codec import encode
from odradek.kafka.wire.connection import Written
from odradek.kafka.wire.messages.fetch import FetchRequest, ReplicaState

FIRST_WITH_REPLICA_STATE = 15
EPOCH = Struct(">i")
OFFSET = Struct(">q")


class Terms(NamedTuple):
    """What a request says whatever is fetched; it seldom changes."""

    version: int
    broker_id: int
    broker_epoch: int
    wait_max_ms: int
    bytes_min: int
    bytes_max: int


class Requests:
    """Writes the requests of one session, one after the other."""

    def __init__(self) -> None:
        self._like: tuple[object, ...] = ()  # What the last one said, but for the two numbers.
        self._written = bytearray()
        self._epoch_at = 0
        self._offset_at = 0

    def write(self, question: Question, terms: Terms) -> FetchRequest | Written:
        """The next request: as a message, or as it was written the last time."""
        asked = question.asked
        if len(asked) != 1 or question.forgotten or question.session_epoch <= INITIAL_EPOCH:
            return request_of(question, terms)
        ((where, wanted),) = asked.items()
        topic_id, leader_epoch, offset, last_epoch, start_offset, bytes_max = wanted
        like = (terms, question.session_id, where, topic_id, leader_epoch, last_epoch, start_offset)
        if (*like, bytes_max) != self._like:
            self._learn(question, terms)
            self._like = (*like, bytes_max)
        EPOCH.pack_into(self._written, self._epoch_at, question.session_epoch)
        OFFSET.pack_into(self._written, self._offset_at, offset)
        return Written(FetchRequest, bytes(self._written))

    def _learn(self, question: Question, terms: Terms) -> None:
        """Write it with two pairs of numbers, each other than the other in all of its bytes."""
        one, other = (
            b"".join(encode(request_of(numbered(question, number), terms), terms.version))
            for number in (0, -1)
        )
        pairs = enumerate(zip(one, other, strict=True))
        differing = [place for place, (left, right) in pairs if left != right]
        assert len(differing) == EPOCH.size + OFFSET.size
        self._written = bytearray(one)
        self._epoch_at, self._offset_at = differing[0], differing[EPOCH.size]


def numbered(question: Question, number: int) -> Question:
    """The same question, with this number for the epoch and for all offsets."""
    asked = {where: it._replace(offset=number) for where, it in question.asked.items()}
    return question._replace(session_epoch=number, asked=asked)


def request_of(question: Question, terms: Terms) -> FetchRequest:
    is_old = terms.version < FIRST_WITH_REPLICA_STATE
    state = ReplicaState(replica_id=terms.broker_id, replica_epoch=terms.broker_epoch)
    return FetchRequest(
        replica_id=terms.broker_id if is_old else -1,
        replica_state=ReplicaState() if is_old else state,
        max_wait_ms=terms.wait_max_ms,
        min_bytes=terms.bytes_min,
        max_bytes=terms.bytes_max,
        session_id=question.session_id,
        session_epoch=question.session_epoch,
        topics=topics_of(question.asked),
        forgotten_topics_data=question.forgotten,
    )
