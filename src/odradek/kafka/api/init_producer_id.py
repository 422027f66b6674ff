"""InitProducerId (key 22, versions 0-5): an id for a producer, so that its retries are recognised.

Without a transactional id every call gets a new id, with epoch 0. With one the transaction's
coordinator answers.
"""

from __future__ import annotations

from odradek.kafka.broker.broker import Broker
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)

NO_ID = -1


async def init_producer_id(
    message: InitProducerIdRequest, request: Request, broker: Broker
) -> InitProducerIdResponse:
    if message.transactional_id is None:
        taken = broker.producer_ids.take()
        if taken is None:
            return answer(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return answer(ErrorCode.NONE, taken, 0)
    if not message.transactional_id:
        return answer(ErrorCode.INVALID_REQUEST)
    return answer(ErrorCode.COORDINATOR_NOT_AVAILABLE)


def answer(
    error: ErrorCode, producer_id: int = NO_ID, producer_epoch: int = -1
) -> InitProducerIdResponse:
    return InitProducerIdResponse(
        throttle_time_ms=0,
        error_code=error,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
    )
