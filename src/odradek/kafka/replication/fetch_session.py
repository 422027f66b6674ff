"""The asking side of a fetch session (KIP-227): all partitions once, then what has changed.

Session and epoch say which question this is; the broker that is asked counts along. When either
side has lost count, the next question names everything again and opens another session.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.fetch import (
    FetchPartition,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
)

NO_SESSION = 0
INITIAL_EPOCH = 0
NO_EPOCH = -1
EPOCH_MAX = 2**31 - 1
FIRST_WITH_SESSIONS = 7
FIRST_WITH_IDS = 13


class Wanted(NamedTuple):
    """What is asked of one partition."""

    topic_id: bytes
    leader_epoch: int
    offset: int
    last_fetched_epoch: int
    start_offset: int
    bytes_max: int


class Question(NamedTuple):
    """What a fetch request says of sessions and partitions."""

    session_id: int
    session_epoch: int
    asked: Mapping[TopicPartition, Wanted]
    forgotten: list[ForgottenTopic]


class FetchSession:
    """One session with one broker. What it costs to ask grows with what has changed."""

    def __init__(self) -> None:
        self.wanted: dict[TopicPartition, Wanted] = {}
        self._id = NO_SESSION
        self._epoch = INITIAL_EPOCH
        self._told: dict[TopicPartition, bytes] = {}  # The topic ids that the other side has.
        self._changed: dict[TopicPartition, None] = {}

    def want(self, where: TopicPartition, wanted: Wanted) -> None:
        """Fetch this from now on."""
        if self.wanted.get(where) != wanted:
            self.wanted[where] = wanted
            self._changed[where] = None

    def drop(self, where: TopicPartition) -> None:
        """Fetch this no longer."""
        if self.wanted.pop(where, None) is not None:
            self._changed[where] = None

    def ask(self, version: int) -> Question:
        """What to say so that exactly what is wanted is fetched."""
        changed, self._changed = self._changed, {}
        if version < FIRST_WITH_SESSIONS or self._epoch == INITIAL_EPOCH:
            self._told = {where: it.topic_id for where, it in self.wanted.items()}
            epoch = NO_EPOCH if version < FIRST_WITH_SESSIONS else INITIAL_EPOCH
            return Question(self._id, epoch, dict(self.wanted), [])
        asked: dict[TopicPartition, Wanted] = {}
        gone: list[tuple[TopicPartition, bytes]] = []
        for where in changed:
            told, wanted = self._told.get(where), self.wanted.get(where)
            if told is not None and (wanted is None or wanted.topic_id != told):
                gone.append((where, self._told.pop(where)))
            if wanted is not None:
                asked[where] = wanted
                self._told[where] = wanted.topic_id
        forgotten = forgotten_of(gone) if gone else []
        return Question(self._id, self._epoch, asked, forgotten)

    def answered(self, response: FetchResponse) -> bool:
        """Whether the answer counts; if not, the next question begins anew."""
        if response.error_code != ErrorCode.NONE:
            if response.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND:
                self._id = NO_SESSION
            self.lost()
            return False
        if response.session_id == NO_SESSION:
            self._id = NO_SESSION
            self.lost()
        else:
            is_new = response.session_id != self._id or self._epoch == INITIAL_EPOCH
            self._id = response.session_id
            self._epoch = 1 if is_new or self._epoch == EPOCH_MAX else self._epoch + 1
        return True

    def lost(self) -> None:
        """There was no answer: nobody knows how far the other has counted."""
        self._epoch = INITIAL_EPOCH


def topics_of(wanted: Mapping[TopicPartition, Wanted]) -> list[FetchTopic]:
    topics: dict[str, FetchTopic] = {}
    for where, it in wanted.items():
        topic = topics.get(where.topic)
        if topic is None:
            topic = FetchTopic(topic=where.topic, topic_id=it.topic_id, partitions=[])
            topics[where.topic] = topic
        topic.partitions.append(
            FetchPartition(
                partition=where.partition,
                current_leader_epoch=it.leader_epoch,
                fetch_offset=it.offset,
                last_fetched_epoch=it.last_fetched_epoch,
                log_start_offset=it.start_offset,
                partition_max_bytes=it.bytes_max,
            )
        )
    return list(topics.values())


def forgotten_of(gone: Iterable[tuple[TopicPartition, bytes]]) -> list[ForgottenTopic]:
    topics: dict[tuple[str, bytes], ForgottenTopic] = {}
    for where, topic_id in gone:
        key = where.topic, topic_id
        topic = topics.setdefault(
            key, ForgottenTopic(topic=where.topic, topic_id=topic_id, partitions=[])
        )
        topic.partitions.append(where.partition)
    return list(topics.values())
