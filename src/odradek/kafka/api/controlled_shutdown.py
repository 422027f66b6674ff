"""ControlledShutdown (key 7, versions 0-3): a broker asks to be relieved before it stops.

The answer names what it still leads: if that is nothing, it may go.
"""

from __future__ import annotations

from functools import partial

from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.reign import Reign
from odradek.kafka.controller import decide
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    RemainingPartition,
)

UNKNOWN_EPOCH = -1


async def controlled_shutdown(
    message: ControlledShutdownRequest, request: Request, broker: Broker
) -> ControlledShutdownResponse:
    work = partial(shut_down, message=message)
    return await broker.controller.submit(
        "ControlledShutdown", work, answer(ErrorCode.STALE_CONTROLLER_EPOCH)
    )


async def shut_down(reign: Reign, message: ControlledShutdownRequest) -> ControlledShutdownResponse:
    image, broker_id = reign.image, message.broker_id
    live = image.brokers.get(broker_id)
    if live is None:
        return answer(ErrorCode.BROKER_NOT_AVAILABLE)
    if message.broker_epoch != UNKNOWN_EPOCH and message.broker_epoch < live.epoch:
        return answer(ErrorCode.STALE_BROKER_EPOCH)
    image.shutting_down[broker_id] = None
    for decision in decide.decide_shutdown(image, broker_id):
        await reign.office.carry_out(decision)
    return answer(ErrorCode.NONE, decide.led_by(image, broker_id))


def answer(
    error: ErrorCode, remaining: list[TopicPartition] | None = None
) -> ControlledShutdownResponse:
    listed = [
        RemainingPartition(topic_name=it.topic, partition_index=it.partition)
        for it in remaining or ()
    ]
    return ControlledShutdownResponse(error_code=error, remaining_partitions=listed)
