"""UpdateMetadata (key 6, versions 0-8): which brokers live, and what became of partitions.

A controller tells only of topics that there are. What its predecessor deleted without our hearing
of it we find out ourselves, once for each new controller.
"""

from __future__ import annotations

from odradek.kafka.api.orders import refuse_order
from odradek.kafka.broker.broker import Broker
from odradek.kafka.controller import paths
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.update_metadata import (
    UpdateMetadataRequest,
    UpdateMetadataResponse,
)
from odradek.zookeeper.client.errors import ZooKeeperError


async def update_metadata(
    message: UpdateMetadataRequest, request: Request, broker: Broker
) -> UpdateMetadataResponse:
    known_epoch = broker.metadata.controller_epoch
    if error := refuse_order(broker, message.controller_epoch, message.broker_epoch):
        return UpdateMetadataResponse(error_code=error)
    if broker.metadata.topics and message.controller_epoch > known_epoch:
        broker.tasks.start("stray topics", forget_strays(broker), may_end=True)
    gone = broker.metadata.update(message)
    forget_configs(broker, {where.topic for where in gone})
    return UpdateMetadataResponse(error_code=ErrorCode.NONE)


async def forget_strays(broker: Broker) -> None:
    """Forget the topics that are in ZooKeeper no more. What is known is there before it is told."""
    known = list(broker.metadata.topics)
    keeper = broker.keeper
    try:
        await keeper.steadily(keeper.client.sync)
        present = frozenset(await keeper.children(paths.TOPICS))
    except ZooKeeperError as error:
        broker.note.warning("topics that were deleted may still be known here: %s", error)
        return
    strays = {it for it in known if it not in present}
    broker.metadata.forget_topics(sorted(strays))
    forget_configs(broker, strays)


def forget_configs(broker: Broker, topics: set[str]) -> None:
    for topic in topics:
        if topic not in broker.metadata.topics:
            broker.configs.forget_topic(topic)
