"""WriteTxnMarkers (key 27, versions 0-1): a coordinator ends transactions in our partitions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.txn_writing import Codes, write_markers
from odradek.kafka.coordinator.offsets_answers import by_topic
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)


async def write_txn_markers(
    message: WriteTxnMarkersRequest, request: Request, broker: Broker
) -> WriteTxnMarkersResponse:
    loop = asyncio.get_running_loop()
    waiting: list[tuple[int, asyncio.Future[Codes]]] = []
    for marker in message.markers:
        done: asyncio.Future[Codes] = loop.create_future()
        waiting.append((marker.producer_id, done))
        write_markers(broker, marker, settle(done))
    by_producer: dict[int, Codes] = {}
    for producer_id, done in waiting:
        by_producer.setdefault(producer_id, {}).update(await done)
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(producer_id=producer_id, topics=list(topics(codes)))
            for producer_id, codes in by_producer.items()
        ]
    )


def settle(done: asyncio.Future[Codes]) -> Callable[[Codes], None]:
    def tell(codes: Codes) -> None:
        if not done.done():  # Who asked may be gone: the broker stops.
            done.set_result(codes)

    return tell


def topics(codes: Codes) -> Iterator[WritableTxnMarkerTopicResult]:
    for name, partitions in by_topic(codes, _written).items():
        yield WritableTxnMarkerTopicResult(name=name, partitions=partitions)


def _written(index: int, code: ErrorCode) -> WritableTxnMarkerPartitionResult:
    return WritableTxnMarkerPartitionResult(partition_index=index, error_code=code)
