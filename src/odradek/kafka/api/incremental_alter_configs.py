"""IncrementalAlterConfigs (key 44, versions 0-1): set and delete single settings, change lists.

The levels of loggers are set here too: they are this process's own, and not kept anywhere.
"""

from __future__ import annotations

from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.admin.resources import ResourceType, refuse_broker
from odradek.kafka.api.alter_configs import DONE, alter_one, each, replies
from odradek.kafka.broker import loggers
from odradek.kafka.broker.broker import Broker
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.messages.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)


async def incremental_alter_configs(
    message: IncrementalAlterConfigsRequest, request: Request, broker: Broker
) -> IncrementalAlterConfigsResponse:
    async def alter(resource: AlterConfigsResource) -> Refusal:
        if resource.resource_type == ResourceType.BROKER_LOGGER:
            return alter_loggers(resource, broker, validate_only=message.validate_only)
        return await alter_one(resource, broker, validate_only=message.validate_only)

    outcomes = await each(message.resources, alter)
    responses = replies(AlterConfigsResourceResponse, message.resources, outcomes)
    return IncrementalAlterConfigsResponse(throttle_time_ms=0, responses=responses)


def alter_loggers(
    resource: AlterConfigsResource, broker: Broker, *, validate_only: bool
) -> Refusal:
    """Set levels, all of them or none."""
    if refusal := refuse_broker(resource.resource_name, broker.id):
        return refusal
    for change in resource.configs:
        if refusal := loggers.refuse_level(change):
            return refusal
    if not validate_only:
        for change in resource.configs:
            loggers.set_level(change)
            broker.note.warning("the level of logger %s is set to %s", change.name, change.value)
    return DONE
