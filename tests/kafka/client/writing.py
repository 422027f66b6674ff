"""Scripted brokers that take records, and remember producers as real ones do."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from odradek.kafka.wire.batch import Batch, cut_entries
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from odradek.kafka.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from odradek.kafka.wire.schema import Message
from tests.kafka.client.scripted import Hangup, ScriptedCluster


class LostAnswer(Exception):
    """The broker is to append, and to close the connection without an answer."""


Trouble = ErrorCode | type[Hangup] | type[LostAnswer]


class WritingCluster(ScriptedCluster):
    """Troubles, one for each produce request to come, happen to all partitions of it."""

    def __init__(self, brokers: int = 1) -> None:
        super().__init__(brokers)
        self.produce_troubles: deque[Trouble] = deque()
        self._sequences: dict[tuple[str, int, int], int] = {}

    def _answers(self) -> dict[type[Message], Callable[[Any, int], Message]]:
        return {
            **super()._answers(),
            InitProducerIdRequest: self._init_producer_id,
            ProduceRequest: self._produce,
        }

    def _init_producer_id(self, request: InitProducerIdRequest, node: int) -> Message:
        return InitProducerIdResponse(
            throttle_time_ms=0, error_code=0, producer_id=7, producer_epoch=0
        )

    def _produce(self, request: ProduceRequest, node: int) -> Message:
        trouble = self.produce_troubles.popleft() if self.produce_troubles else ErrorCode.NONE
        if trouble is Hangup:
            raise Hangup
        code = trouble if isinstance(trouble, ErrorCode) else ErrorCode.NONE
        topics = [
            TopicProduceResponse(
                name=topic.name,
                partition_responses=[
                    self._append(topic.name, data, node, code) for data in topic.partition_data
                ],
            )
            for topic in request.topic_data
        ]
        if trouble is LostAnswer:
            raise Hangup
        return ProduceResponse(responses=topics)

    def _append(
        self, topic: str, data: PartitionProduceData, node: int, code: ErrorCode
    ) -> PartitionProduceResponse:
        log = self.logs[topic][data.index]
        (entry,) = cut_entries(memoryview(bytearray(data.records or b"")))
        batch = Batch(entry)
        batch.check_crc()
        if log.leader != node:
            code = ErrorCode.NOT_LEADER_OR_FOLLOWER
        key = topic, data.index, batch.producer_id
        expected = self._sequences.get(key, 0)
        if not code and batch.producer_id >= 0 and batch.base_sequence > expected:
            code = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        is_new = batch.producer_id < 0 or batch.base_sequence == expected
        offset = log.end
        if not code and is_new:
            entry[:8] = offset.to_bytes(8, "big")
            self.append(topic, data.index, bytes(entry))
            self._sequences[key] = expected + batch.record_count
        return PartitionProduceResponse(index=data.index, error_code=code, base_offset=offset)
