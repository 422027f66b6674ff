"""InitProducerId (key 22, versions 0-5): an id for a producer, so that its retries are recognised.

Without a transactional id every call gets a new id, with epoch 0. With one the transaction's
coordinator answers.
"""

from __future__ import annotations

from odradek.kafka.broker.broker import Broker
from odradek.kafka.coordinator.transactions import TransactionShard
from odradek.kafka.coordinator.txn_effects import Token
from odradek.kafka.coordinator.txn_errors import for_version
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)

NO_ID = -1
WAIT_S = 1.0


async def init_producer_id(
    message: InitProducerIdRequest, request: Request, broker: Broker
) -> InitProducerIdResponse:
    await broker.producer_ids.until_there(WAIT_S)
    if message.transactional_id is None:
        taken = broker.producer_ids.take()
        if taken is None:
            return answer(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return answer(ErrorCode.NONE, taken, 0)

    def handle(shard: TransactionShard, token: Token, now_ms: int) -> None:
        shard.init_producer_id(token, message, now_ms)

    told = await broker.coordinators.transactions.ask(message.transactional_id, handle)
    code = for_version(told.code, request.api.key, request.version)
    return answer(code, told.producer_id, told.producer_epoch)


def answer(
    error: ErrorCode, producer_id: int = NO_ID, producer_epoch: int = -1
) -> InitProducerIdResponse:
    return InitProducerIdResponse(
        throttle_time_ms=0,
        error_code=error,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
    )
