"""AlterConfigs (key 33, versions 0-2): replace all that was said of a topic or of brokers.

What is left out falls back to its default, which is why IncrementalAlterConfigs came after it.
Both are told here: a resource is decided upon, written to ZooKeeper, and every broker is notified.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.admin.resources import (
    Resource,
    decide_resource,
    entity_path,
    refuse_entries,
    refuse_twice,
)
from odradek.kafka.broker.broker import Broker
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages import incremental_alter_configs
from odradek.kafka.wire.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from odradek.zookeeper.client.errors import ZooKeeperError

DONE = Refusal(ErrorCode.NONE)
Asked = TypeVar("Asked", bound=Resource)
Reply = TypeVar(
    "Reply", AlterConfigsResourceResponse, incremental_alter_configs.AlterConfigsResourceResponse
)


async def alter_configs(
    message: AlterConfigsRequest, request: Request, broker: Broker
) -> AlterConfigsResponse:
    outcomes = await each(
        message.resources, lambda it: alter_one(it, broker, validate_only=message.validate_only)
    )
    responses = replies(AlterConfigsResourceResponse, message.resources, outcomes)
    return AlterConfigsResponse(throttle_time_ms=0, responses=responses)


async def each(
    resources: Sequence[Asked], alter: Callable[[Asked], Awaitable[Refusal]]
) -> list[Refusal]:
    """Alter one after the other, as far as they can be meant; what became of each."""
    twice = refuse_twice(resources)
    return [
        refusal or refuse_entries(resource) or await alter(resource)
        for resource, refusal in zip(resources, twice, strict=True)
    ]


def replies(
    kind: type[Reply], resources: Sequence[Resource], outcomes: Sequence[Refusal]
) -> list[Reply]:
    return [
        kind(
            error_code=outcome.code,
            error_message=outcome.message,
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
        )
        for resource, outcome in zip(resources, outcomes, strict=True)
    ]


async def alter_one(resource: Resource, broker: Broker, *, validate_only: bool) -> Refusal:
    path = entity_path(resource, broker.id, broker.metadata.topics)
    if isinstance(path, Refusal):
        return path
    try:
        kept = await broker.configs.fetch(path) or {}
        decided = decide_resource(resource, path, kept, broker.layers)
        if isinstance(decided, Refusal):
            return decided
        if not validate_only:
            await broker.configs.write(path, decided)
    except ZooKeeperError as error:
        broker.note.warning("the settings of %s may not be altered: %s", path, error)
        return Refusal(ErrorCode.UNKNOWN_SERVER_ERROR)
    return DONE
