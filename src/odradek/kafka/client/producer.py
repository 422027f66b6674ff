"""Writing batches to partitions: several requests ahead of their answers, each partition in order.

An idempotent producer numbers its batches, and the broker drops what it has seen and refuses what
comes too early. So whatever becomes of a request, its batches can be sent again: once all that a
partition has in flight is answered for, from the first that was not acknowledged on. Who wants no
numbers (acks below all) may find a record twice.

After an error the producer is done with: what it had in hand may be written or not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import cast

from odradek.kafka.client.addresses import Address
from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.connection import BlockingConnection, has_news
from odradek.kafka.client.errors import (
    BrokerRefused,
    ConnectionLost,
    KafkaClientError,
    TopicPartition,
    is_retriable,
    name_of,
)
from odradek.kafka.client.identity import NOBODY, Identity
from odradek.kafka.client.patience import Patience
from odradek.kafka.client.producer_settings import ProducerSettings
from odradek.kafka.wire.batch_writer import Envelope, write_encoded_batch
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)

SEQUENCE_END = 2**31  # After the last number comes 0.


class RecordTooLarge(KafkaClientError):
    """A batch that no request may carry."""


@dataclass(slots=True, eq=False)
class _Outgoing:
    """A batch, until it is acknowledged."""

    line: _Line
    data: bytearray
    is_in_flight: bool = False


@dataclass(slots=True, eq=False)
class _Line:
    """What one partition has to take, oldest first."""

    partition: TopicPartition
    patience: Patience
    next_sequence: int = 0
    waiting: deque[_Outgoing] = field(default_factory=deque)
    is_mending: bool = False  # Something failed: all in flight must be back before more is sent.
    last_offset: int = -1

    def next(self) -> _Outgoing | None:
        """The batch to send next, if one can be."""
        if self.is_mending and any(one.is_in_flight for one in self.waiting):
            return None
        self.is_mending = False
        return next((one for one in self.waiting if not one.is_in_flight), None)


@dataclass(slots=True)
class _Link:
    """A leader, and the batches of each request that it has not answered."""

    connection: BlockingConnection
    requests: deque[list[_Outgoing]] = field(default_factory=deque)


class Producer:
    """Writes to any partition under one identity. `flush` before you rely on anything."""

    def __init__(
        self, cluster: Cluster, settings: ProducerSettings, identity: Identity = NOBODY
    ) -> None:
        self.identity = identity
        self.cluster = cluster
        self._settings = settings
        self._lines: dict[TopicPartition, _Line] = {}
        self._links: dict[Address, _Link] = {}
        self._buffered_bytes = 0
        self._trouble = "no leader is known"

    def send(
        self,
        partition: TopicPartition,
        records: bytes,
        count: int,
        time_ms: int,
        time_ms_max: int | None = None,
    ) -> None:
        """Take a batch of encoded records; waits if too much is on its way already.

        The times of records count from `time_ms`; None: they all have that one.
        """
        line = self._line(partition)
        batch = self._seal(line, records, count, time_ms, time_ms_max)
        if len(batch) > self._settings.request_bytes_max:
            what = f"{len(batch)} bytes for {partition}, and max.request.size is"
            raise RecordTooLarge(f"{what} {self._settings.request_bytes_max}")
        if not line.waiting:
            line.patience.renew()
        line.waiting.append(_Outgoing(line, batch))
        self._buffered_bytes += len(batch)
        self._send_what_can_be()
        while self._buffered_bytes > self._settings.buffer_bytes_max:
            self._progress()

    def flush(self) -> None:
        """Return when all is acknowledged."""
        while self._buffered_bytes:
            self._progress()

    def last_offset(self, partition: TopicPartition) -> int:
        """The offset of the last batch's first record that was acknowledged."""
        return self._lines[partition].last_offset

    def close(self) -> None:
        """Give the connections back, until more is sent; what was not flushed is forgotten."""
        for link in self._links.values():
            self.cluster.brokers.give_back(link.connection)
        self._links.clear()

    def _line(self, partition: TopicPartition) -> _Line:
        line = self._lines.get(partition)
        if line is None:
            timeout_ms = self._settings.delivery_timeout_ms
            patience = self.cluster.patience(f"writing to {partition}", timeout_ms)
            line = self._lines[partition] = _Line(partition, patience)
        return line

    def _seal(
        self, line: _Line, records: bytes, count: int, time_ms: int, time_ms_max: int | None
    ) -> bytearray:
        is_numbered = self.identity.producer_id >= 0
        envelope = Envelope(
            codec=self._settings.codec,
            producer_id=self.identity.producer_id,
            producer_epoch=self.identity.epoch,
            base_sequence=line.next_sequence if is_numbered else -1,
            is_transactional=self.identity.transactional_id is not None,
        )
        line.next_sequence = (line.next_sequence + count) % SEQUENCE_END
        return write_encoded_batch(
            records, count, time_ms, envelope, self._settings.level, time_ms_max
        )

    def _progress(self) -> None:
        """Send what can be sent, and take an answer or wait a little."""
        self._send_what_can_be()
        busy = [link for link in self._links.values() if link.requests]
        if not busy:
            if self._buffered_bytes:
                self._be_patient([line for line in self._lines.values() if line.waiting])
            return
        ready = busy
        if len(busy) > 1:
            timeout_s = self._settings.client.request_timeout_ms / 1000
            heard = has_news([link.connection for link in busy], timeout_s)
            ready = [link for link in busy if link.connection in heard] or busy[:1]
        for link in ready:
            self._receive(link)

    def _send_what_can_be(self) -> None:
        by_leader: dict[Address, list[_Line]] = {}
        for line in self._lines.values():
            if line.next() is not None and (led := self._leader_of(line)):
                by_leader.setdefault(led, []).append(line)
        for address, lines in by_leader.items():
            self._send_to(address, lines)

    def _leader_of(self, line: _Line) -> Address | None:
        led = self.cluster.leader_of(line.partition)
        if led is None:
            self.cluster.forget(line.partition.topic)
            self._trouble = f"{line.partition} has no leader"
            return None
        return led[0]

    def _send_to(self, address: Address, lines: list[_Line]) -> None:
        try:
            link = self._links.get(address)
            if link is None:
                link = self._links[address] = _Link(self.cluster.brokers.borrow(address))
            while len(link.requests) < self._settings.requests_in_flight_max:
                batches = self._next_batches(lines)
                if not batches:
                    return
                self._send_batches(link, batches)
        except ConnectionLost as error:
            self._drop(address, str(error), lines)

    def _next_batches(self, lines: list[_Line]) -> list[_Outgoing]:
        """One batch of each partition, as many as a request may carry."""
        chosen: list[_Outgoing] = []
        size = 0
        for line in lines:
            one = line.next()
            if one is None or (chosen and size + len(one.data) > self._settings.request_bytes_max):
                continue
            size += len(one.data)
            chosen.append(one)
        return chosen

    def _send_batches(self, link: _Link, batches: list[_Outgoing]) -> None:
        if not self._settings.acks:
            link.connection.send_unanswered(self._request(batches))
            for one in batches:
                self._acknowledge(one, -1)
            return
        for one in batches:
            one.is_in_flight = True
        link.requests.append(batches)
        link.connection.send(self._request(batches))

    def _request(self, batches: list[_Outgoing]) -> ProduceRequest:
        topics: dict[str, list[PartitionProduceData]] = {}
        for one in batches:
            topic, partition = one.line.partition
            data = PartitionProduceData(index=partition, records=one.data)
            topics.setdefault(topic, []).append(data)
        return ProduceRequest(
            transactional_id=self.identity.transactional_id,
            acks=self._settings.acks,
            timeout_ms=self._settings.client.request_timeout_ms,
            topic_data=[
                TopicProduceData(name=name, partition_data=data) for name, data in topics.items()
            ],
        )

    def _receive(self, link: _Link) -> None:
        try:
            answer = cast(ProduceResponse, link.connection.receive().message)
        except ConnectionLost as error:
            lines = [one.line for batches in link.requests for one in batches]
            self._drop(link.connection.address, str(error), lines)
            self._be_patient(lines)
            return
        sent = {one.line.partition: one for one in link.requests.popleft()}
        failed = [
            sent[partition].line
            for topic in answer.responses
            for about in topic.partition_responses
            if (partition := TopicPartition(topic.name, about.index)) in sent
            and not self._is_acknowledged(sent[partition], about)
        ]
        if failed:
            self._be_patient(failed)

    def _is_acknowledged(self, one: _Outgoing, about: PartitionProduceResponse) -> bool:
        line, code = one.line, about.error_code
        one.is_in_flight = False
        if not code or code == ErrorCode.DUPLICATE_SEQUENCE_NUMBER:
            self._acknowledge(one, about.base_offset)
            return True
        is_behind_a_failure = (
            code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and one is not line.waiting[0]
        )
        if not is_behind_a_failure and not is_retriable(code):
            raise BrokerRefused(f"writing to {line.partition}", code, about.error_message)
        line.is_mending = True
        self._trouble = f"{line.partition}: {name_of(code)}"
        self.cluster.forget(line.partition.topic)
        return False

    def _acknowledge(self, one: _Outgoing, offset: int) -> None:
        one.line.waiting.remove(one)
        one.line.last_offset = offset
        one.line.patience.renew()
        self._buffered_bytes -= len(one.data)

    def _drop(self, address: Address, trouble: str, lines: Iterable[_Line]) -> None:
        """A broker went away: what it had in flight is sent again, to whoever leads then."""
        link = self._links.pop(address, None)
        if link is not None:
            link.connection.close()
            for one in [one for batches in link.requests for one in batches]:
                one.is_in_flight = False
                one.line.is_mending = True
        self._trouble = trouble
        for line in lines:
            self.cluster.forget(line.partition.topic)

    def _be_patient(self, lines: Iterable[_Line]) -> None:
        """Let some time pass before the next try, unless one of them has waited long enough."""
        waiting = min(lines, key=lambda line: line.patience.left_s)
        waiting.patience.pause(self._trouble)
