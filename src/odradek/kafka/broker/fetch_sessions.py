"""Fetch sessions (KIP-227): a client names its partitions once, and then only what has changed.

    (0, -1) no session   (0, 0) open one   (id, 0) open another   (id, n) go on   (id, -1) close it

The broker remembers what it last told of each partition, and an answer holds only those that have
data, an error or another high watermark or start offset. A session watches its partitions, and a
fetch looks only at those of which something may be new; now and then at all, for a log may start
later without anybody being told. Partitions that were served go to the end, so that all get their
turn.

There are so many sessions and no more: one that was not used for two minutes makes room, and then
one that is smaller than the new one; followers go before clients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from types import MappingProxyType

from odradek.kafka.broker.fetch_entries import LOOK_MS, Entry, Session, entries_of
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    NodeEndpoint,
    PartitionData,
)

NO_SESSION = 0
INITIAL_EPOCH = 0
FINAL_EPOCH = -1
EPOCH_MAX = 2**31 - 1
ID_MAX = 2**31 - 1
IDLE_MS = 120_000
FIRST_VERSION_WITH_IDS = 13
NONE: Mapping[int, NodeEndpoint] = MappingProxyType({})

Results = list[tuple[Entry, PartitionData]]


@dataclass(slots=True, eq=False)
class Context:
    """What one request asks for, and how it is answered."""

    entries: list[Entry]
    session: Session | None = None
    is_incremental: bool = False
    epoch: int = 0

    def look_again(self) -> None:
        """Something has happened: of an incremental fetch, look at what is new."""
        if self.session is not None and self.is_incremental:
            self.entries = list(self.session.stale)

    def answer(self, results: Results, nodes: Mapping[int, NodeEndpoint] = NONE) -> FetchResponse:
        """What was read, or of a session what is new; `nodes` are those that lead instead."""
        session, nodes_told = self.session, list(nodes.values())
        if session is None:
            return FetchResponse(
                session_id=NO_SESSION, responses=grouped(results), node_endpoints=nodes_told
            )
        if session.epoch != self.epoch:
            return refusal(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        told = [(entry, data) for entry, data in results if entry.is_news(data)]
        if self.is_incremental:
            results = told
            for entry, data in told:
                if data.records:
                    session.served(entry)
        return FetchResponse(
            session_id=session.id, responses=grouped(results), node_endpoints=nodes_told
        )


class FetchSessions:
    """All sessions of a broker, the one that was used longest ago first."""

    def __init__(
        self,
        count_max: int,
        random: Random,
        clock: Callable[[], int],
        lag_max_ms: Callable[[], int] = lambda: 3 * LOOK_MS,
    ) -> None:
        self.evicted_count = 0
        self._lag_max_ms = lag_max_ms
        self._count_max = count_max
        self._random = random
        self._clock = clock
        self._sessions: dict[int, Session] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def partition_count(self) -> int:
        return sum(len(session.entries) for session in self._sessions.values())

    def begin(
        self, message: FetchRequest, version: int, *, is_follower: bool
    ) -> Context | FetchResponse:
        """What is to be read for a request, or the answer that refuses it."""
        if message.session_epoch == FINAL_EPOCH:
            self._end(message.session_id)
            return Context(list(entries_of(message)))
        if message.session_epoch == INITIAL_EPOCH:
            self._end(message.session_id)
            return self._open(message, version, is_follower=is_follower)
        return self._go_on(message, version)

    def throttled(self, context: Context, throttle_time_ms: int) -> FetchResponse:
        """Nothing this time. A session that would have begun with this has not (KIP-219)."""
        session_id, session = NO_SESSION, context.session
        if session is not None and context.is_incremental:
            if session.epoch != context.epoch:
                return refusal(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
            session_id = session.id
        elif session is not None:
            self._end(session.id)
        return FetchResponse(session_id=session_id, throttle_time_ms=throttle_time_ms, responses=[])

    def _open(self, message: FetchRequest, version: int, *, is_follower: bool) -> Context:
        entries = {entry.key: entry for entry in entries_of(message)}
        now_ms = self._clock()
        if not entries or not self._make_room(len(entries), now_ms, is_privileged=is_follower):
            return Context(list(entries.values()))
        uses_ids = version >= FIRST_VERSION_WITH_IDS
        look_ms = min(LOOK_MS, self._lag_max_ms() // 3) if is_follower else LOOK_MS
        session = Session(self._new_id(), is_follower, uses_ids, look_ms, now_ms, now_ms, now_ms)
        for entry in entries.values():
            session.add(entry)
        self._sessions[session.id] = session
        return Context(list(entries.values()), session, epoch=session.epoch)

    def _go_on(self, message: FetchRequest, version: int) -> Context | FetchResponse:
        session = self._sessions.get(message.session_id)
        if session is None:
            return refusal(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.epoch != message.session_epoch:
            return refusal(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if session.uses_ids != (version >= FIRST_VERSION_WITH_IDS):
            return refusal(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        if message.topics or message.forgotten_topics_data:
            session.update(message)
        del self._sessions[session.id]
        if not session.entries:
            return Context([])
        self._sessions[session.id] = session
        now_ms = session.used_ms = self._clock()
        session.epoch = 1 if session.epoch == EPOCH_MAX else session.epoch + 1
        entries = session.to_look_at(now_ms)
        return Context(entries, session, is_incremental=True, epoch=session.epoch)

    def _end(self, session_id: int) -> None:
        session = self._sessions.pop(session_id, None)
        if session is not None:
            session.end()

    def _new_id(self) -> int:
        while (drawn := self._random.randint(1, ID_MAX)) in self._sessions:
            pass
        return drawn

    def _make_room(self, size: int, now_ms: int, *, is_privileged: bool) -> bool:
        if len(self._sessions) < self._count_max:
            return True
        victim = self._victim(size, now_ms, is_privileged=is_privileged)
        if victim is None:
            return False
        self._end(victim.id)
        self.evicted_count += 1
        return True

    def _victim(self, size: int, now_ms: int, *, is_privileged: bool) -> Session | None:
        """Who must go for a session of so many partitions."""
        oldest = next(iter(self._sessions.values()), None)
        if oldest is None or now_ms - oldest.used_ms > IDLE_MS:
            return oldest
        rank = (is_privileged, size)
        smaller = (
            ((each.is_privileged, len(each.entries)), each.id)
            for each in self._sessions.values()
            if now_ms - each.created_ms > IDLE_MS or (is_privileged and not each.is_privileged)
        )
        least = min(smaller, default=None)
        return self._sessions[least[1]] if least and least[0] < rank else None


def grouped(results: Results) -> list[FetchableTopicResponse]:
    """Neighbours of one topic together, all in their order."""
    responses: list[FetchableTopicResponse] = []
    last: tuple[str, bytes] | None = None
    for entry, data in results:
        topic = entry.topic, entry.topic_id
        if topic != last:
            last = topic
            responses.append(
                FetchableTopicResponse(topic=entry.topic, topic_id=entry.topic_id, partitions=[])
            )
        responses[-1].partitions.append(data)
    return responses


def refusal(error: ErrorCode) -> FetchResponse:
    return FetchResponse(error_code=error, session_id=NO_SESSION, responses=[])
