"""AlterClientQuotas (key 49, versions 0-1): set and remove the limits of clients.

Any broker writes them to ZooKeeper, for all to read.
"""

from __future__ import annotations

import asyncio
import ipaddress

from odradek.kafka.admin.entities import Absent, Entity, read_entity
from odradek.kafka.admin.quotas import decide_quotas
from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.clients import write_entity
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    AlterClientQuotasResponse,
    AlterClientQuotasResponseEntryData,
)
from odradek.zookeeper.client.errors import ZooKeeperError


async def alter_client_quotas(
    message: AlterClientQuotasRequest, request: Request, broker: Broker
) -> AlterClientQuotasResponse:
    entries = []
    for entry in message.entries:
        outcome = await alter(entry, broker, validate_only=message.validate_only)
        entries.append(
            AlterClientQuotasResponseEntryData(
                error_code=outcome.code, error_message=outcome.message, entity=entry.entity
            )
        )
    return AlterClientQuotasResponse(throttle_time_ms=0, entries=entries)


async def alter(
    entry: AlterClientQuotasRequestEntryData, broker: Broker, *, validate_only: bool
) -> Refusal:
    entity = read_entity({it.entity_type: it.entity_name for it in entry.entity})
    if isinstance(entity, Refusal):
        return entity
    if refusal := await refuse_address(entity):
        return refusal
    try:
        texts = await broker.configs.fetch(entity.path) or {}
        decided = decide_quotas(entity, texts, entry.ops)
        if isinstance(decided, Refusal):
            return decided
        if not validate_only:
            await write_entity(broker, entity, decided)
    except ZooKeeperError as error:
        broker.note.warning("the quotas of %s may not be altered: %s", entity.path, error)
        return Refusal(ErrorCode.UNKNOWN_SERVER_ERROR)
    return Refusal(ErrorCode.NONE)


async def refuse_address(entity: Entity) -> Refusal | None:
    """An address is one, or a name that has one."""
    name = entity.ip
    if name is None or isinstance(name, Absent):
        return None
    try:
        ipaddress.ip_address(name)
    except ValueError:
        try:
            await asyncio.get_running_loop().getaddrinfo(name, None)
        except (OSError, UnicodeError):
            reason = f"{name} is not a valid IP or resolvable host."
            return Refusal(ErrorCode.INVALID_REQUEST, reason)
    return None
