"""DescribeClientQuotas (key 48, versions 0-1): the limits of those whom a filter means."""

from __future__ import annotations

import asyncio

from odradek.kafka.admin.entities import CLIENT_ID, IP, USER, Entity
from odradek.kafka.admin.quotas import Filter, quotas_of, read_filter
from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.broker import clients
from odradek.kafka.broker.broker import Broker
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)
from odradek.zookeeper.client.errors import ZooKeeperError


async def describe_client_quotas(
    message: DescribeClientQuotasRequest, request: Request, broker: Broker
) -> DescribeClientQuotasResponse:
    wanted = read_filter(message.components, strict=message.strict)
    if isinstance(wanted, Refusal):
        return failed(wanted)
    try:
        matching = [it for it in await entities(wanted, broker) if wanted.matches(it)]
        kept = await asyncio.gather(*(broker.configs.fetch(it.path) for it in matching))
        found = [(it, quotas_of(it, texts or {})) for it, texts in zip(matching, kept, strict=True)]
    except (ZooKeeperError, ValueError) as error:
        broker.note.warning("quotas cannot be described: %s", error)
        return failed(Refusal(ErrorCode.UNKNOWN_SERVER_ERROR))
    return DescribeClientQuotasResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        error_message="",
        entries=[entry(it, quotas) for it, quotas in found if quotas],
    )


async def entities(wanted: Filter, broker: Broker) -> list[Entity]:
    """All that might be meant; what cannot be is not read."""
    found: list[Entity] = []
    if wanted.may_match(USER):
        found += await clients.users(broker)
    if wanted.may_match(CLIENT_ID):
        found += await clients.client_ids(broker)
    if wanted.may_match(USER, CLIENT_ID):
        found += await clients.users_clients(broker, wanted.may_be_user)
    if wanted.may_match(IP):
        found += await clients.addresses(broker)
    return found


def entry(entity: Entity, quotas: dict[str, float]) -> EntryData:
    return EntryData(
        entity=[
            EntityData(entity_type=kind, entity_name=name) for kind, name in entity.parts().items()
        ],
        values=[ValueData(key=key, value=value) for key, value in quotas.items()],
    )


def failed(refusal: Refusal) -> DescribeClientQuotasResponse:
    return DescribeClientQuotasResponse(
        throttle_time_ms=0,
        error_code=refusal.code,
        error_message=refusal.message,
        entries=None,
    )
