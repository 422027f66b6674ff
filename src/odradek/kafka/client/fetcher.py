"""Reading ranges of partitions: whole batches, as they stand in the log, as fast as they come.

Each leader has one request in flight for all of its partitions. The next request leaves as soon
as an answer is here, before its batches are handed over: while the caller decodes them, the
broker reads and the socket fills. A partition whose leader moved, or whose broker went away, is
asked for again from where it stood; a caller sees no gap and nothing twice.

Where a lender is given, answers are received in what it lends. One answer is taken at a time, and
handed over whole before the next: what is lent for one may be lent again for the next.

An error about one partition is raised once all that came before it is handed over; `remaining` then
says what was not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from odradek.kafka.client.addresses import Address
from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.connection import BlockingConnection, has_news
from odradek.kafka.client.errors import (
    BrokerRefused,
    ConnectionLost,
    CorruptRecords,
    OffsetOutOfRange,
    TopicPartition,
    UnknownTopic,
    is_retriable,
    name_of,
)
from odradek.kafka.client.patience import Patience
from odradek.kafka.client.ranges import OffsetRange as OffsetRange
from odradek.kafka.wire.batch import ENTRY_START, MAGIC_POSITION, Batch, cut_entries
from odradek.kafka.wire.batch_errors import CorruptBatch
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.fetch import (
    AbortedTransaction,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from odradek.runtime.frames import Lender

FETCH_BYTES_MIN = 64 * 1024
NO_ABORTED: list[AbortedTransaction] = []


class Fetched(NamedTuple):
    """Whole entries of a partition. The first and the last may reach beyond the range."""

    partition: TopicPartition
    start: int  # Where the partition was read from: earlier records are not wanted.
    data: memoryview
    aborted: list[AbortedTransaction]


@dataclass(slots=True)
class _Reading:
    """How far one range has come."""

    partition: TopicPartition
    position: int
    start: int
    end: int
    patience: Patience
    bytes_max: int
    bytes_read: int = 0

    @property
    def is_done(self) -> bool:
        return self.position >= self.end

    def wanted_bytes(self) -> int:
        """No more than what is left, judged by what was: the rest would be thrown away."""
        offsets_read = self.position - self.start
        if not offsets_read:
            return self.bytes_max
        left = (self.end - self.position) * self.bytes_read // offsets_read
        return min(self.bytes_max, max(FETCH_BYTES_MIN, left + left // 8))


@dataclass(slots=True)
class _Link:
    """A leader, and the readings that its request in flight is about."""

    connection: BlockingConnection
    asked: dict[TopicPartition, _Reading] = field(default_factory=dict)


class Fetcher:
    """Reads ranges of distinct partitions. `poll_timeout_ms` bounds the wait for any progress."""

    def __init__(
        self,
        cluster: Cluster,
        ranges: Iterable[OffsetRange],
        poll_timeout_ms: int = 120_000,
        lender: Lender | None = None,
    ) -> None:
        self._cluster = cluster
        self._lender = lender
        self._settings = cluster.settings
        self._links: dict[Address, _Link] = {}
        self._trouble: str | None = None
        self._failure: OffsetOutOfRange | UnknownTopic | None = None
        self._readings = [self._reading(one, poll_timeout_ms) for one in ranges]
        self._idle = list(self._readings)
        assert len({reading.partition for reading in self._idle}) == len(self._idle)

    def __iter__(self) -> Iterator[Fetched]:
        try:
            while self._has_more():
                for link in self._await_news():
                    yield from self._receive(link)
                    if self._failure is not None:
                        raise self._failure
        finally:
            for link in self._links.values():
                link.connection.borrow_room(None)
                self._cluster.brokers.give_back(link.connection)
            self._links.clear()

    def remaining(self) -> list[OffsetRange]:
        """What of the ranges was not handed over."""
        return [
            OffsetRange(reading.partition, reading.position, reading.end)
            for reading in self._readings
            if not reading.is_done
        ]

    def _reading(self, wanted: OffsetRange, timeout_ms: int) -> _Reading:
        what = f"fetching {wanted.partition}"
        return _Reading(
            wanted.partition,
            wanted.start,
            wanted.start,
            wanted.end,
            self._cluster.patience(what, timeout_ms),
            self._settings.partition_fetch_bytes_max,
        )

    def _has_more(self) -> bool:
        """Send whatever can be sent; say whether anything is still to come."""
        self._idle = [reading for reading in self._idle if not reading.is_done]
        if self._idle:
            self._send(self._idle)
        return bool(self._idle) or any(link.asked for link in self._links.values())

    def _await_news(self) -> list[_Link]:
        busy = [link for link in self._links.values() if link.asked]
        if len(busy) == 1 and not self._idle:
            return busy  # `receive` waits as well, and costs less.
        if not busy or any(reading.patience.left_s <= 0 for reading in self._idle):
            self._be_patient(self._idle, self._trouble or "no leader is known")
            return []
        timeout_s = self._settings.request_timeout_ms / 1000
        if self._idle:  # Somebody waits for a leader: look again soon.
            timeout_s = self._settings.retry_backoff_ms / 1000
        ready = has_news([link.connection for link in busy], timeout_s)
        if not ready and not self._idle:
            ready = [link.connection for link in busy]  # Let `receive` find out what is wrong.
        return [link for link in busy if link.connection in ready]

    def _send(self, readings: Collection[_Reading]) -> None:
        """Ask the leaders for what is next; those that cannot be asked now stay idle."""
        by_leader: dict[Address, list[tuple[_Reading, int]]] = {}
        for reading in readings:
            led = self._cluster.leader_of(reading.partition)
            if led is None:
                self._cluster.forget(reading.partition.topic)
                self._trouble = f"{reading.partition} has no leader"
            else:
                by_leader.setdefault(led[0], []).append((reading, led[1].epoch))
        for address, asked in by_leader.items():
            self._send_to(address, asked)

    def _send_to(self, address: Address, asked: list[tuple[_Reading, int]]) -> None:
        try:
            link = self._links.get(address)
            if link is None:
                link = self._links[address] = _Link(self._cluster.brokers.borrow(address))
                link.connection.borrow_room(self._lender)
            if link.asked:
                return  # One request at a time: these join the next.
            link.connection.send(self._request(asked))
        except ConnectionLost as error:
            self._drop(address, str(error), [reading for reading, _ in asked])
            return
        link.asked = {reading.partition: reading for reading, _ in asked}
        self._idle = [reading for reading in self._idle if reading.partition not in link.asked]

    def _request(self, asked: list[tuple[_Reading, int]]) -> FetchRequest:
        topics: dict[str, list[FetchPartition]] = {}
        for reading, epoch in asked:
            topics.setdefault(reading.partition.topic, []).append(
                FetchPartition(
                    partition=reading.partition.partition,
                    current_leader_epoch=epoch,
                    fetch_offset=reading.position,
                    partition_max_bytes=reading.wanted_bytes(),
                )
            )
        return FetchRequest(
            max_wait_ms=self._settings.fetch_max_wait_ms,
            min_bytes=self._settings.fetch_min_bytes,
            max_bytes=self._settings.fetch_max_bytes,
            isolation_level=self._settings.isolation_level,
            topics=[FetchTopic(topic=name, partitions=ps) for name, ps in topics.items()],
            forgotten_topics_data=[],
        )

    def _drop(self, address: Address, trouble: str, readings: Iterable[_Reading]) -> None:
        """A broker went away: find out who leads now."""
        link = self._links.pop(address, None)
        if link is not None:
            link.connection.close()
        self._trouble = trouble
        for reading in readings:
            self._cluster.forget(reading.partition.topic)

    def _receive(self, link: _Link) -> list[Fetched]:
        """Take one answer, ask for what comes after it, and only then hand it over."""
        readings = list(link.asked.values())
        try:
            answer = cast(FetchResponse, link.connection.receive().message)
        except ConnectionLost as error:
            self._idle += readings
            self._drop(link.connection.address, str(error), readings)
            self._be_patient(readings, str(error))
            return []
        fetched = self._learn(link, answer)
        link.asked = {}
        self._idle += [reading for reading in readings if not reading.is_done]
        if fetched and self._idle:
            self._send_ahead()
        return fetched

    def _send_ahead(self) -> None:
        try:
            self._send(self._idle)
        except UnknownTopic as error:
            self._failure = error

    def _learn(self, link: _Link, answer: FetchResponse) -> list[Fetched]:
        if answer.error_code:
            self._trouble = f"{link.connection.address}: {name_of(answer.error_code)}"
        fetched = []
        for topic in answer.responses:
            for data in topic.partitions:
                reading = link.asked.get(TopicPartition(topic.topic, data.partition_index))
                if reading is not None and (got := self._learn_partition(reading, data)):
                    fetched.append(got)
        if not fetched and self._failure is None:
            self._be_patient(link.asked.values(), self._trouble or "nothing came")
        return fetched

    def _learn_partition(self, reading: _Reading, data: PartitionData) -> Fetched | None:
        code = data.error_code
        if code == ErrorCode.OFFSET_OUT_OF_RANGE:
            self._failure = OffsetOutOfRange(reading.partition, reading.position)
            return None
        if code and not is_retriable(code):
            raise BrokerRefused(f"{reading.partition} from offset {reading.position} on", code)
        if code:
            self._cluster.forget(reading.partition.topic)
            self._trouble = f"{reading.partition}: {name_of(code)}"
            return None
        if not data.records:
            self._trouble = f"{reading.partition} ends at offset {data.high_watermark}"
            return None
        return self._advance(reading, memoryview(data.records), data.aborted_transactions)

    def _advance(
        self, reading: _Reading, data: memoryview, aborted: list[AbortedTransaction] | None
    ) -> Fetched | None:
        try:
            size, position = whole_entries(data)
        except CorruptBatch as error:
            raise CorruptRecords(reading.partition, reading.position, error) from error
        if not size:
            # Only brokers from before KIP-74 cut the first batch: ask for all of it.
            reading.bytes_max = max(2 * reading.bytes_max, entry_bytes(data))
            return None
        start = reading.position
        reading.position = max(position, start)
        reading.bytes_read += size
        reading.patience.renew()
        return Fetched(reading.partition, start, data[:size], aborted or NO_ABORTED)

    def _be_patient(self, readings: Iterable[_Reading], trouble: str) -> None:
        """Let some time pass before the next try, unless one of them has waited long enough."""
        waiting = min(readings, key=lambda reading: reading.patience.left_s)
        waiting.patience.pause(f"{trouble} (wanted: offsets {waiting.position} to {waiting.end})")


def whole_entries(data: memoryview) -> tuple[int, int]:
    """How many bytes of a record set are whole entries, and the offset after the last."""
    size, last = 0, None
    for last in cut_entries(data):
        size += len(last)
    if last is None:
        return 0, -1
    if last[MAGIC_POSITION] == 2:
        return size, Batch(last).last_offset + 1
    offset, _ = ENTRY_START.unpack_from(last)
    return size, offset + 1


def entry_bytes(data: memoryview) -> int:
    """The size of the entry that `data` is the start of."""
    if len(data) < ENTRY_START.size:
        return ENTRY_START.size
    _, length = ENTRY_START.unpack_from(data)
    return ENTRY_START.size + max(0, int(length))
