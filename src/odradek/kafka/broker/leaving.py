"""A broker's farewell: its leaderships go to others before it does.

The controller is asked to relieve us, and answers what we still lead. If that is something, or
there is no answer, we ask again after a pause, so many times; then we go anyway.
"""

from __future__ import annotations

import asyncio

from odradek.kafka.broker.channel import ControllerChannel
from odradek.kafka.broker.keeper import Keeper
from odradek.kafka.broker.peers import PeerLost
from odradek.kafka.controller.versions import versions_for
from odradek.kafka.settings import BrokerSettings
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
)
from odradek.runtime.logs import NodeLog


async def be_relieved(
    broker_id: int,
    keeper: Keeper,
    channel: ControllerChannel,
    settings: BrokerSettings,
    note: NodeLog,
) -> bool:
    """Hand over what we lead; whether nothing is left."""
    if not settings.controlled_shutdown_enable:
        return False
    pause_s = settings.controlled_shutdown_retry_backoff_ms / 1000
    for attempt in range(settings.controlled_shutdown_max_retries):
        if attempt:
            await asyncio.sleep(pause_s)
        reason = await ask_once(broker_id, keeper, channel, settings)
        if not reason:
            return True
        note.info("is not relieved yet: %s", reason)
    note.warning("leaves without being relieved")
    return False


async def ask_once(
    broker_id: int, keeper: Keeper, channel: ControllerChannel, settings: BrokerSettings
) -> str:
    """Ask the controller; why we are not relieved, or "" if we are."""
    listener = settings.inter_broker_listener_name
    versions = versions_for(settings.inter_broker_protocol_version, listener)
    request = ControlledShutdownRequest(broker_id=broker_id, broker_epoch=keeper.epoch)
    # The controller may be ourselves, waiting for a ZooKeeper that will not come back.
    timeout_s = settings.controller_socket_timeout_ms / 1000
    try:
        async with asyncio.timeout(timeout_s):
            answer = await channel.ask(request, versions.controlled_shutdown)
    except PeerLost as error:
        return str(error)
    except TimeoutError:
        return f"the controller does not answer within {timeout_s:g} s"
    assert isinstance(answer, ControlledShutdownResponse)
    if answer.error_code != ErrorCode.NONE:
        return ErrorCode(answer.error_code).name
    left = [f"{it.topic_name}-{it.partition_index}" for it in answer.remaining_partitions]
    return f"still leads {', '.join(left)}" if left else ""
