"""Settings of topics and brokers while they run: read, set, unset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum

from odradek.kafka.client.addresses import Address
from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.controller import ask_the_controller
from odradek.kafka.client.errors import BrokerRefused, NoBroker
from odradek.kafka.client.topic_admin import describe
from odradek.kafka.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
)
from odradek.kafka.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

SET, DELETE = 0, 1


class Resource(IntEnum):
    """Whose settings, by Kafka's numbers."""

    TOPIC = 2
    BROKER = 4


class ConfigSource(IntEnum):
    """Where a value comes from, by Kafka's numbers."""

    UNKNOWN = 0
    TOPIC = 1
    BROKER = 2
    ALL_BROKERS = 3
    FILE = 4
    DEFAULT = 5


def describe_configs(
    cluster: Cluster, resource: Resource, name: str
) -> list[DescribeConfigsResourceResult]:
    """All settings of a topic, of a broker ("1"), or of all brokers ("")."""
    asked = DescribeConfigsResource(
        resource_type=resource, resource_name=name, configuration_keys=None
    )
    request = DescribeConfigsRequest(
        resources=[asked], include_synonyms=False, include_documentation=False
    )
    if resource is Resource.BROKER and name:
        with cluster.brokers.lend(broker_address(cluster, name)) as connection:
            answer = connection.request(request, DescribeConfigsResponse)
    else:
        answer = cluster.ask_any(request, DescribeConfigsResponse)
    (result,) = answer.results
    if result.error_code:
        what = f"settings of {resource.name.lower()} {name}".rstrip()
        raise BrokerRefused(what, result.error_code, result.error_message)
    return result.configs


def alter_configs(
    cluster: Cluster,
    resource: Resource,
    name: str,
    set_: Mapping[str, str],
    unset: Iterable[str] = (),
    *,
    is_dry_run: bool = False,
) -> None:
    """Set some, unset others, leave the rest."""
    changes = [AlterableConfig(name=k, config_operation=SET, value=v) for k, v in set_.items()]
    changes += [AlterableConfig(name=k, config_operation=DELETE, value=None) for k in unset]
    asked = AlterConfigsResource(resource_type=resource, resource_name=name, configs=changes)
    request = IncrementalAlterConfigsRequest(resources=[asked], validate_only=is_dry_run)
    if resource is Resource.BROKER and name:
        with cluster.brokers.lend(broker_address(cluster, name)) as connection:
            answer = connection.request(request, IncrementalAlterConfigsResponse)
    else:
        answer = ask_the_controller(
            cluster,
            "settings",
            request,
            IncrementalAlterConfigsResponse,
            lambda said: [it.error_code for it in said.responses],
        )
    for it in answer.responses:
        if it.error_code:
            what = f"settings of {resource.name.lower()} {name}".rstrip()
            raise BrokerRefused(what, it.error_code, it.error_message)


def broker_address(cluster: Cluster, name: str) -> Address:
    """Where the broker of an id is."""
    for broker in describe(cluster, []).brokers:
        if str(broker.node_id) == name:
            return Address(broker.host, broker.port)
    raise NoBroker(f"the cluster has no broker {name}")
