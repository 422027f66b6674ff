"""The two ends of a pipeline: how a cluster is named, and what is asked of it besides records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from odradek.kafka.client.cluster import Cluster, shared_cluster
from odradek.kafka.client.errors import (
    BrokerRefused,
    ConnectionLost,
    TopicPartition,
    UnknownTopic,
)
from odradek.kafka.client.offsets import EARLIEST, LATEST, list_offsets
from odradek.kafka.client.patience import Patience
from odradek.kafka.client.settings import client_settings
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from odradek.kafka.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from odradek.kafka.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from odradek.kafka.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from odradek.kafka.wire.messages.metadata import MetadataRequest, MetadataResponse

Servers = str | Mapping[str, str]
TOPIC = 2  # The kind of a resource that has configs.
OF_THE_TOPIC = 1  # Where a config comes from: it was set for this topic.
TIMEOUT_MS = 60_000
BROKER_DEFAULT = -1
OUR_OWN = ("odradek-syncs", "odradek-decisions")  # What pipelines and sinks remember.


def properties_of(servers: Servers) -> dict[str, str]:
    """The properties of a client: a list of addresses alone will do."""
    if isinstance(servers, str):
        return {"bootstrap.servers": servers}
    return dict(servers)


def spark_options(servers: Servers) -> dict[str, str]:
    """The same, as the options of `format("odradek")`."""
    return {f"kafka.{key}": value for key, value in properties_of(servers).items()}


def cluster_of(servers: Servers) -> Cluster:
    return shared_cluster(client_settings(properties_of(servers)))


def cluster_id(cluster: Cluster) -> str:
    """What the cluster calls itself."""
    answer = cluster.ask_any(MetadataRequest(topics=[]), MetadataResponse)
    return answer.cluster_id or "unnamed"


def ends_of(
    cluster: Cluster, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, tuple[int, int]]:
    """Where each partition begins and ends."""
    wanted = list(partitions)
    starts = list_offsets(cluster, dict.fromkeys(wanted, EARLIEST))
    ends = list_offsets(cluster, dict.fromkeys(wanted, LATEST))
    return {one: (starts[one] or 0, ends[one] or 0) for one in wanted}


def group_ids(cluster: Cluster) -> list[str]:
    """The groups of all brokers that answer."""
    found: set[str] = set()
    for address in cluster.addresses():
        try:
            with cluster.brokers.lend(address) as connection:
                request = ListGroupsRequest(states_filter=[], types_filter=[])
                answer = connection.request(request, ListGroupsResponse)
        except ConnectionLost:
            continue
        found.update(group.group_id for group in answer.groups)
    return sorted(found)


def topic_configs(cluster: Cluster, topic: str) -> dict[str, str]:
    """What was set for a topic itself."""
    resource = DescribeConfigsResource(
        resource_type=TOPIC, resource_name=topic, configuration_keys=None
    )
    answer = cluster.ask_any(DescribeConfigsRequest(resources=[resource]), DescribeConfigsResponse)
    return {
        config.name: config.value
        for result in answer.results
        if not result.error_code
        for config in result.configs
        if config.config_source == OF_THE_TOPIC and config.value is not None
    }


def ensure_like(
    cluster: Cluster, topic: str, partitions: int, configs: Callable[[], Mapping[str, str]] = dict
) -> None:
    """Have a topic with at least so many partitions, made with these configs if it is new."""
    try:
        count = cluster.partition_count(topic)
    except UnknownTopic:
        _create(cluster, topic, partitions, configs())
        return
    if count < partitions:
        _add_partitions(cluster, topic, partitions)


def _create(cluster: Cluster, topic: str, partitions: int, configs: Mapping[str, str]) -> None:
    wanted = CreatableTopic(
        name=topic,
        num_partitions=partitions,
        replication_factor=BROKER_DEFAULT,
        assignments=[],
        configs=[CreatableTopicConfig(name=name, value=value) for name, value in configs.items()],
    )
    answer = cluster.ask_controller(CreateTopicsRequest(topics=[wanted]), CreateTopicsResponse)
    code = answer.topics[0].error_code
    if code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
        raise BrokerRefused(f"creating topic {topic}", code, answer.topics[0].error_message)
    cluster.await_topic(topic)


def _add_partitions(cluster: Cluster, topic: str, partitions: int) -> None:
    wanted = CreatePartitionsTopic(name=topic, count=partitions, assignments=None)
    request = CreatePartitionsRequest(topics=[wanted], timeout_ms=TIMEOUT_MS, validate_only=False)
    what = f"giving topic {topic} {partitions} partitions"
    answer = cluster.ask_controller(request, CreatePartitionsResponse).results[0]
    if answer.error_code:
        raise BrokerRefused(what, answer.error_code, answer.error_message)
    patience = Patience(what, cluster.settings)
    while cluster.partition_count(topic) < partitions:
        cluster.forget(topic)
        patience.pause("brokers have not heard of them yet")


def chosen_topics(cluster: Cluster, topics: Sequence[str]) -> list[str]:
    """The topics that are named; a name with * stands for all that match, but for internal ones."""
    from fnmatch import fnmatchcase

    there = cluster.topics()
    found: list[str] = []
    for name in topics:
        if "*" not in name:
            if name not in there:
                raise UnknownTopic(name)
            found.append(name)
            continue
        found += [
            topic
            for topic, picture in sorted(there.items())
            if fnmatchcase(topic, name) and not picture.is_internal and topic not in OUR_OWN
        ]
    return list(dict.fromkeys(found))
