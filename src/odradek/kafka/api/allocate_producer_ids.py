"""AllocateProducerIds (key 67, version 0): a broker is given a block of producer ids."""

from __future__ import annotations

from functools import partial

from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.reign import Reign
from odradek.kafka.controller import paths
from odradek.kafka.controller.writes import Set
from odradek.kafka.coordinator.producer_ids import Block, decide_next_block, encode_block
from odradek.kafka.storage.refusal import Refusal
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.client.errors import ZooKeeperError

TRIES_MAX = 10


async def allocate_producer_ids(
    message: AllocateProducerIdsRequest, request: Request, broker: Broker
) -> AllocateProducerIdsResponse:
    work = partial(allocate, message=message)
    return await broker.controller.submit(
        "AllocateProducerIds", work, refusal(ErrorCode.NOT_CONTROLLER)
    )


async def allocate(
    reign: Reign, message: AllocateProducerIdsRequest
) -> AllocateProducerIdsResponse:
    live = reign.image.brokers.get(message.broker_id)
    if live is None:
        return refusal(ErrorCode.BROKER_ID_NOT_REGISTERED)
    if live.epoch != message.broker_epoch:
        return refusal(ErrorCode.STALE_BROKER_EPOCH)
    for _ in range(TRIES_MAX):
        block = await next_block(reign, message.broker_id)
        if isinstance(block, Refusal):
            reign.office.note.error("%s", block)
            return refusal(ErrorCode.UNKNOWN_SERVER_ERROR)
        if block is not None:
            return AllocateProducerIdsResponse(
                throttle_time_ms=0,
                error_code=ErrorCode.NONE,
                producer_id_start=block.first,
                producer_id_len=block.length,
            )
    return refusal(ErrorCode.UNKNOWN_SERVER_ERROR)


async def next_block(reign: Reign, broker_id: int) -> Block | Refusal | None:
    """The block behind the newest; None if another was faster to take it."""
    office = reign.office
    await office.keeper.make(paths.PRODUCER_IDS)
    found = await office.keeper.read(paths.PRODUCER_IDS)
    if found is None:
        return None
    try:
        block = decide_next_block(found[0])
    except ProtocolError as error:
        return Refusal(ErrorCode.UNKNOWN_SERVER_ERROR, str(error))
    if isinstance(block, Refusal):
        return block
    data = encode_block(block, broker_id)
    (outcome,) = await office.write([(Set(paths.PRODUCER_IDS, data, found[1].version),)])
    # If only the answer was lost, the ids of this block are: that does no harm.
    return None if isinstance(outcome, ZooKeeperError) else block


def refusal(error: ErrorCode) -> AllocateProducerIdsResponse:
    return AllocateProducerIdsResponse(
        throttle_time_ms=0, error_code=error, producer_id_start=0, producer_id_len=0
    )
