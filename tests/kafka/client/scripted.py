"""Brokers that do as a test tells them: real sockets, real messages, and a log that is a list.

with ScriptedCluster(brokers=2) as cluster:
    cluster.create("t", leaders=[0])
    cluster.append("t", 0, batch)
    cluster.troubles.append(ErrorCode.NOT_LEADER_OR_FOLLOWER)  # For the next fetch.
"""

from __future__ import annotations

import socket
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from odradek.kafka.client.addresses import Address
from odradek.kafka.client.brokers import Brokers
from odradek.kafka.client.settings import ClientSettings
from odradek.kafka.wire.apis import APIS
from odradek.kafka.wire.batch import Batch
from odradek.kafka.wire.connection import ServerConnection
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)
from odradek.kafka.wire.messages.fetch import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from odradek.kafka.wire.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from odradek.kafka.wire.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from odradek.kafka.wire.schema import Message

HOST = "127.0.0.1"


class Hangup(Exception):
    """The broker is to close the connection without an answer."""


@dataclass
class Log:
    """One partition: who leads it, and its batches."""

    leader: int
    batches: list[bytes] = field(default_factory=list)
    start: int = 0
    aborted: list[AbortedTransaction] = field(default_factory=list)

    @property
    def end(self) -> int:
        return Batch(memoryview(self.batches[-1])).last_offset + 1 if self.batches else self.start


class ScriptedCluster:
    """Some brokers on loopback, one thread for each connection."""

    def __init__(self, brokers: int = 1) -> None:
        self.logs: dict[str, dict[int, Log]] = {}
        self.troubles: deque[ErrorCode | type[Hangup]] = deque()  # One for each fetch to come.
        self.asked: list[Message] = []
        self.versions: dict[int, int] = {}  # The newest version of an api, if not ours.
        self._listeners = [socket.create_server((HOST, 0)) for _ in range(brokers)]
        self._addresses = [Address(*one.getsockname()) for one in self._listeners]
        self._pools: list[Brokers] = []
        self._sockets: dict[int, list[socket.socket]] = {node: [] for node in range(brokers)}

    def __enter__(self) -> Self:
        for node, listener in enumerate(self._listeners):
            threading.Thread(target=self._accept, args=(node, listener), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for pool in self._pools:
            pool.close()
        for node in range(len(self._listeners)):
            self.stop(node)

    def address(self, node: int = 0) -> Address:
        return self._addresses[node]

    def settings(self, **given: Any) -> ClientSettings:
        quick = {"retry_backoff_ms": 5, "retry_backoff_ms_max": 20, "fetch_max_wait_ms": 5}
        every = tuple(self.address(node) for node in range(len(self._listeners)))
        return ClientSettings(bootstrap_servers=every, **{**quick, **given})

    def brokers(self, **given: Any) -> Brokers:
        """A pool of connections to this cluster, closed with it."""
        pool = Brokers(self.settings(**given))
        self._pools.append(pool)
        return pool

    def stop(self, node: int) -> None:
        """End a broker: nobody can connect any more, and who was connected is cut off."""
        with suppress(OSError):
            self._listeners[node].shutdown(socket.SHUT_RDWR)
        self._sockets[node], cut = [], self._sockets[node]
        for connection in cut:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def create(self, topic: str, leaders: list[int]) -> None:
        self.logs[topic] = {partition: Log(leader) for partition, leader in enumerate(leaders)}

    def append(self, topic: str, partition: int, batch: bytes | bytearray) -> None:
        self.logs[topic][partition].batches.append(bytes(batch))

    def _accept(self, node: int, listener: socket.socket) -> None:
        with suppress(OSError), listener:
            while True:
                connection, _ = listener.accept()
                self._sockets[node].append(connection)
                threading.Thread(target=self._serve, args=(node, connection), daemon=True).start()

    def _serve(self, node: int, connection: socket.socket) -> None:
        wire = ServerConnection()
        with suppress(OSError, Hangup), connection:
            while data := connection.recv(65536):
                for request in wire.receive(data):
                    self.asked.append(request.message)
                    answer = self._answers()[type(request.message)]
                    wire.respond(request, answer(request.message, node))
                    connection.sendall(b"".join(wire.take_output()))

    def _answers(self) -> dict[type[Message], Callable[[Any, int], Message]]:
        return {
            ApiVersionsRequest: self._api_versions,
            MetadataRequest: self._metadata,
            ListOffsetsRequest: self._list_offsets,
            FetchRequest: self._fetch,
        }

    def _api_versions(self, request: ApiVersionsRequest, node: int) -> Message:
        keys = [
            ApiVersion(
                api_key=api.key,
                min_version=api.versions.first,
                max_version=self.versions.get(api.key, api.versions.last),
            )
            for api in APIS.values()
        ]
        return ApiVersionsResponse(error_code=0, api_keys=keys)

    def _metadata(self, request: MetadataRequest, node: int) -> Message:
        names = self.logs if request.topics is None else [t.name or "" for t in request.topics]
        brokers = [
            MetadataResponseBroker(node_id=n, host=self.address(n).host, port=self.address(n).port)
            for n, listener in enumerate(self._listeners)
            if listener.fileno() >= 0
        ]
        return MetadataResponse(brokers=brokers, topics=[self._topic(name) for name in names])

    def _topic(self, name: str) -> MetadataResponseTopic:
        code = 0 if name in self.logs else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        partitions = [
            MetadataResponsePartition(
                error_code=0,
                partition_index=number,
                leader_id=log.leader,
                replica_nodes=[log.leader],
                isr_nodes=[log.leader],
            )
            for number, log in self.logs.get(name, {}).items()
        ]
        return MetadataResponseTopic(error_code=code, name=name, partitions=partitions)

    def _list_offsets(self, request: ListOffsetsRequest, node: int) -> Message:
        topics = [
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=[
                    self._offset(topic.name, p.partition_index, p.timestamp, node)
                    for p in topic.partitions
                ],
            )
            for topic in request.topics
        ]
        return ListOffsetsResponse(topics=topics)

    def _offset(
        self, topic: str, partition: int, time: int, node: int
    ) -> ListOffsetsPartitionResponse:
        log = self.logs[topic][partition]
        if log.leader != node:
            code = ErrorCode.NOT_LEADER_OR_FOLLOWER
            return ListOffsetsPartitionResponse(partition_index=partition, error_code=code)
        later = [b for b in map(_view, log.batches) if b.max_timestamp >= time]
        offset = later[0].base_offset if later else -1
        offset = {-2: log.start, -1: log.end}.get(time, offset)
        return ListOffsetsPartitionResponse(
            partition_index=partition, error_code=0, offset=offset, timestamp=max(time, -1)
        )

    def _fetch(self, request: FetchRequest, node: int) -> Message:
        trouble = self.troubles.popleft() if self.troubles else ErrorCode.NONE
        if not isinstance(trouble, ErrorCode):
            raise trouble
        topics = [
            FetchableTopicResponse(
                topic=topic.topic,
                partitions=[self._read(topic.topic, p, node, trouble) for p in topic.partitions],
            )
            for topic in request.topics
        ]
        return FetchResponse(session_id=0, responses=topics)

    def _read(self, topic: str, asked: FetchPartition, node: int, code: ErrorCode) -> PartitionData:
        log = self.logs.get(topic, {}).get(asked.partition, Log(leader=-1))
        if log.leader != node:
            code = ErrorCode.NOT_LEADER_OR_FOLLOWER
        elif not log.start <= asked.fetch_offset <= log.end:
            code = ErrorCode.OFFSET_OUT_OF_RANGE
        records = b"" if code else log_slice(log, asked.fetch_offset, asked.partition_max_bytes)
        return PartitionData(
            partition_index=asked.partition,
            error_code=code,
            high_watermark=log.end,
            aborted_transactions=log.aborted,
            records=records,
        )


def log_slice(log: Log, offset: int, bytes_max: int) -> bytes:
    """What a broker gives: whole batches, at least one, then up to the limit and cut there."""
    found = [b for b in log.batches if last_offset(b) >= offset]
    joined = b"".join(found)
    return joined[: max(bytes_max, len(found[0]))] if found else b""


def last_offset(batch: bytes) -> int:
    """What a header says, whatever else is wrong with it."""
    return int.from_bytes(batch[:8], "big") + int.from_bytes(batch[23:27], "big")


def _view(batch: bytes) -> Batch:
    return Batch(memoryview(batch))
