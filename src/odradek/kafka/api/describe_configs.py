"""DescribeConfigs (key 32, versions 0-4): settings, and where each value comes from.

A broker answers for itself, for all brokers (named ""), for topics, and for its loggers. v1 adds
sources and synonyms, v3 types.
"""

from __future__ import annotations

import asyncio

from odradek.kafka.admin.configs import config_entries
from odradek.kafka.admin.names import refuse_name
from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.admin.resources import ResourceType, refuse_broker, refuse_request
from odradek.kafka.broker import loggers
from odradek.kafka.broker.broker import Broker
from odradek.kafka.settings.described import (
    Described,
    describe_all_brokers,
    describe_broker,
    describe_topic,
)
from odradek.kafka.settings.sources import Source
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from odradek.runtime.settings import SettingsRefused
from odradek.zookeeper.client.errors import ZooKeeperError

RESOURCE_TYPES = frozenset(ResourceType)


async def describe_configs(
    message: DescribeConfigsRequest, request: Request, broker: Broker
) -> DescribeConfigsResponse:
    unknown = [it for it in message.resources if it.resource_type not in RESOURCE_TYPES]
    if unknown:
        refusal = refuse_request(f"Unexpected resource type {unknown[0].resource_type}")
        results = [result(it, refusal) for it in message.resources]
    else:
        found = await asyncio.gather(*(entries(it, message, broker) for it in message.resources))
        results = [result(*both) for both in zip(message.resources, found, strict=True)]
    return DescribeConfigsResponse(throttle_time_ms=0, results=results)


async def entries(
    resource: DescribeConfigsResource, message: DescribeConfigsRequest, broker: Broker
) -> list[DescribeConfigsResourceResult] | Refusal:
    """What one resource has, as far as it was asked for."""
    keys = resource.configuration_keys
    if resource.resource_type == ResourceType.BROKER_LOGGER:
        return logger_entries(resource, broker)
    if resource.resource_type == ResourceType.TOPIC:
        described = await topic_settings(resource.resource_name, broker)
    else:
        described = broker_settings(resource, broker)
    if isinstance(described, Refusal):
        return described
    return config_entries(described, keys, include_synonyms=message.include_synonyms)


async def topic_settings(topic: str, broker: Broker) -> list[Described] | Refusal:
    """As ZooKeeper has them now, which this broker may not have heard of yet."""
    if refusal := refuse_name(topic):
        return refusal
    if topic not in broker.metadata.topics:
        return Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "")
    try:
        overrides = await broker.configs.fetch(f"topics/{topic}")
        return list(describe_topic(broker.layers, overrides or {}))
    except (ZooKeeperError, SettingsRefused) as error:
        broker.note.warning("the settings of topic %s cannot be described: %s", topic, error)
        return Refusal(ErrorCode.UNKNOWN_SERVER_ERROR)


def broker_settings(resource: DescribeConfigsResource, broker: Broker) -> list[Described] | Refusal:
    if resource.resource_type == ResourceType.CLIENT_METRICS:
        return refuse_request("Client metrics are only to be had where KRaft is")
    if not resource.resource_name:
        return list(describe_all_brokers(broker.layers))
    refusal = refuse_broker(resource.resource_name, broker.id)
    return refusal or list(describe_broker(broker.layers))


def logger_entries(
    resource: DescribeConfigsResource, broker: Broker
) -> list[DescribeConfigsResourceResult] | Refusal:
    if not resource.resource_name:
        return refuse_request("Broker id must not be empty")
    if refusal := refuse_broker(resource.resource_name, broker.id):
        return refusal
    wanted = set(resource.configuration_keys or ())
    return [
        DescribeConfigsResourceResult(
            name=name,
            value=level,
            read_only=False,
            config_source=Source.DYNAMIC_BROKER_LOGGER,
            is_sensitive=False,
            synonyms=[],
            documentation=None,
        )
        for name, level in loggers.levels().items()
        if not wanted or name in wanted
    ]


def result(
    resource: DescribeConfigsResource, found: list[DescribeConfigsResourceResult] | Refusal
) -> DescribeConfigsResult:
    refusal = found if isinstance(found, Refusal) else Refusal(ErrorCode.NONE, "")
    return DescribeConfigsResult(
        error_code=refusal.code,
        error_message=refusal.message,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        configs=[] if isinstance(found, Refusal) else found,
    )
