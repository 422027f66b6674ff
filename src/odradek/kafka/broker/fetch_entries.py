"""The partitions of a fetch, and of a session that goes on from fetch to fetch.

A session's entry watches its partition and is stale when something may be new there: then it must
be looked at. It rests once all is read and told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from odradek.kafka.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    PartitionData,
)
from odradek.kafka.wire.schema import ZERO_UUID

if TYPE_CHECKING:
    from odradek.kafka.broker.parked import Watcher
    from odradek.kafka.broker.partition import Partition

LOOK_MS = 10_000  # A log may start later without anybody being told: so often all are looked at.

Key = tuple[str | bytes, int]


@dataclass(slots=True, eq=False)
class Entry:
    """One partition of a fetch, and what was last said of it."""

    topic: str
    topic_id: bytes
    index: int
    fetch_offset: int
    bytes_max: int
    current_leader_epoch: int
    last_fetched_epoch: int
    log_start_offset: int
    sent_high_watermark: int = -1
    sent_start_offset: int = -1
    session: Session | None = None
    watched: Partition | None = None

    @property
    def key(self) -> Key:
        return (self.topic if self.topic_id == ZERO_UUID else self.topic_id, self.index)

    def update(self, asked: FetchPartition) -> None:
        """Ask for something else from now on."""
        self.fetch_offset = asked.fetch_offset
        self.bytes_max = asked.partition_max_bytes
        self.current_leader_epoch = asked.current_leader_epoch
        self.last_fetched_epoch = asked.last_fetched_epoch
        self.log_start_offset = asked.log_start_offset

    def is_news(self, data: PartitionData) -> bool:
        """Whether an incremental answer must hold this; remember that it was told."""
        must_tell = bool(data.records) or data.error_code != 0 or data.diverging_epoch.epoch >= 0
        must_tell = must_tell or data.preferred_read_replica >= 0
        if data.high_watermark != self.sent_high_watermark:
            must_tell, self.sent_high_watermark = True, data.high_watermark
        if data.log_start_offset != self.sent_start_offset:
            must_tell, self.sent_start_offset = True, data.log_start_offset
        if data.error_code:
            self.sent_high_watermark = -1  # What follows an error is news.
        return must_tell

    # Watching

    def watch(self, partition: Partition | None) -> None:
        """Hear of this partition, and of no other."""
        if self.session is None or self.watched is partition:
            return
        if self.watched is not None:
            self.watched.watchers.pop(self, None)
        self.watched = partition
        if partition is not None:
            partition.watchers[self] = None

    def rest(self, upper_offset: int) -> None:
        """Need not be looked at until something happens, if all was told and read."""
        session, partition = self.session, self.watched
        if session is None or partition is None or self.fetch_offset < upper_offset:
            return
        log = partition.log
        told = self.sent_high_watermark, self.sent_start_offset
        if told == (log.high_watermark, log.start_offset):
            session.stale.pop(self, None)

    def appended(self, count: int) -> None:
        session = self.session
        if session is not None and session.is_privileged:
            session.stale[self] = None
            for watcher in tuple(session.watchers):
                watcher.appended(count)

    def committed(self, count: int) -> None:
        if self.session is not None:
            self.session.stale[self] = None
            for watcher in tuple(self.session.watchers):
                watcher.committed(count)

    def changed(self) -> None:
        if self.session is not None:
            self.session.stale[self] = None
            for watcher in tuple(self.session.watchers):
                watcher.changed()


@dataclass(slots=True, eq=False)
class Session:
    """The partitions of one client; who is served moves to the end."""

    id: int
    is_privileged: bool  # A follower's.
    uses_ids: bool
    look_ms: int  # How often all are looked at; a follower's, also to see that it is in sync.
    created_ms: int
    used_ms: int
    looked_ms: int  # When all were last looked at.
    epoch: int = 1
    entries: dict[Key, Entry] = field(default_factory=dict)
    stale: dict[Entry, None] = field(default_factory=dict)  # Of whom something may be new.
    watchers: dict[Watcher, None] = field(default_factory=dict)

    def update(self, message: FetchRequest) -> None:
        for topic in message.topics:
            named = topic.topic if topic.topic_id == ZERO_UUID else topic.topic_id
            for asked in topic.partitions:
                known = self.entries.get((named, asked.partition))
                if known is None:
                    self.add(entry_of(topic, asked))
                else:
                    known.update(asked)
                    self.stale[known] = None
        for gone in message.forgotten_topics_data:
            named = gone.topic if gone.topic_id == ZERO_UUID else gone.topic_id
            for index in gone.partitions:
                self.forget((named, index))

    def add(self, entry: Entry) -> None:
        entry.session = self
        self.entries[entry.key] = entry
        self.stale[entry] = None

    def forget(self, key: Key) -> None:
        entry = self.entries.pop(key, None)
        if entry is not None:
            entry.watch(None)
            entry.session = None
            self.stale.pop(entry, None)

    def end(self) -> None:
        for key in list(self.entries):
            self.forget(key)

    def to_look_at(self, now_ms: int) -> list[Entry]:
        if now_ms - self.looked_ms > self.look_ms:
            self.looked_ms = now_ms
            return list(self.entries.values())
        return list(self.stale)

    def served(self, entry: Entry) -> None:
        """Let others come before it the next time."""
        key = entry.key
        if self.entries.pop(key, None) is not None:
            self.entries[key] = entry
            self.stale.pop(entry, None)
            self.stale[entry] = None


def entries_of(message: FetchRequest) -> Iterator[Entry]:
    """The partitions that a request names."""
    for topic in message.topics:
        for asked in topic.partitions:
            yield entry_of(topic, asked)


def entry_of(topic: FetchTopic, asked: FetchPartition) -> Entry:
    return Entry(
        topic.topic,
        topic.topic_id,
        asked.partition,
        asked.fetch_offset,
        asked.partition_max_bytes,
        asked.current_leader_epoch,
        asked.last_fetched_epoch,
        asked.log_start_offset,
    )
