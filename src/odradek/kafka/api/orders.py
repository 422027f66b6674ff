"""What the controller orders, and what may be asked of it without a socket.

An order is refused if it is from a controller that was replaced (11), or for an earlier life of
this broker (77).
"""

from __future__ import annotations

from odradek.kafka.broker.broker import Broker
from odradek.kafka.wire.errors import ErrorCode

UNKNOWN_EPOCH = -1  # What requests of old versions come with.


def refuse_order(broker: Broker, controller_epoch: int, broker_epoch: int) -> ErrorCode:
    """Why an order is not obeyed; NONE if it is."""
    if broker_epoch != UNKNOWN_EPOCH and broker_epoch < broker.keeper.epoch:
        return ErrorCode.STALE_BROKER_EPOCH
    if broker.metadata.is_from_the_past(controller_epoch):
        return ErrorCode.STALE_CONTROLLER_EPOCH
    return ErrorCode.NONE
