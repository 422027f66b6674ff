"""What an administrator may ask of a broker, right and wrong, in an order that builds on itself.

Left out is what Apache's broker answers by chance or not at all: two topics that collide in one
request (which of them is made?), a resource that AlterConfigs names twice (no answer comes), an
unknown operation or list of a topic (an error without a reason; ours names it), an IPv6 address
as the name of a quota (which it cannot look up; ours can).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from odradek.kafka.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    EntityData,
    OpData,
)
from odradek.kafka.wire.messages.alter_configs import AlterConfigsRequest
from odradek.kafka.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from odradek.kafka.wire.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from odradek.kafka.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from odradek.kafka.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from odradek.kafka.wire.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
)
from odradek.kafka.wire.messages.describe_cluster import DescribeClusterRequest
from odradek.kafka.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from odradek.kafka.wire.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from odradek.kafka.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest
from odradek.kafka.wire.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from odradek.kafka.wire.messages.incremental_alter_configs import IncrementalAlterConfigsRequest
from odradek.kafka.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.kafka.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from odradek.kafka.wire.schema import ZERO_UUID, Message
from tests.kafka.api import test_alter_configs as whole
from tests.kafka.api import test_incremental_alter_configs as single

Question = tuple[Message, int]
TOPIC, BROKER, LOGGER, CLIENT_METRICS = 2, 4, 8, 16
NOBODYS_ID = b"q" * 16


def all_questions() -> Iterator[Question]:
    yield from creations()
    yield from metadata()
    yield from descriptions()
    yield from alterations()
    yield from growth()
    yield from the_rest()
    yield from credentials()
    yield from quotas()
    yield from deletions()


def topic(
    name: str,
    partitions: int = 1,
    factor: int = 1,
    by_hand: dict[int, list[int]] | None = None,
    **configs: str | None,
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=replicas)
            for index, replicas in (by_hand or {}).items()
        ],
        configs=[
            CreatableTopicConfig(name=key.replace("_", "."), value=value)
            for key, value in configs.items()
        ],
    )


def create(*topics: CreatableTopic, version: int = 7, **fields: Any) -> Question:
    given = {"timeout_ms": 10_000, "validate_only": False} | fields
    return CreateTopicsRequest(topics=list(topics), **given), version


def creations() -> Iterator[Question]:
    for version in range(8):
        yield create(topic(f"c{version}", 2, retention_ms="1000"), version=version)
    yield create(topic("a.b"))
    for wrong in (
        topic("c0"),
        topic("a_b"),
        topic("a b"),
        topic(""),
        topic("."),
        topic("x" * 250),
        topic("many", 1, 2),
        topic("none", 0),
        topic("negative", -2),
        topic("nowhere", 1, 0),
        topic("bad", retention_ms="soon"),
        topic("unknown", nonsense="1"),
        topic("null", retention_ms=None),
        topic("__cluster_metadata"),
        topic("both", 1, 1, {0: [1]}),
        topic("twice", -1, -1, {0: [1, 1]}),
        topic("gap", -1, -1, {1: [1]}),
        topic("uneven", -1, -1, {0: [1], 1: []}),
    ):
        yield create(wrong)
    yield create(topic("same"), topic("same"))
    yield create(topic("defaults", -1, -1))
    yield create(topic("valid", 3), topic("invalid", 0), validate_only=True)
    yield create(topic("late"), timeout_ms=0)
    yield create(topic("dead", -1, -1, {0: [9]}), timeout_ms=300)


def metadata() -> Iterator[Question]:
    for version in range(13):
        # Older ones cannot say that nothing is to be created.
        names = ["c0", "c1", "nobody", "a b"] if version > 3 else ["c0", "c1"]
        yield ask_for(names, version)
        if version > 0:
            yield MetadataRequest(topics=None), version
    yield ask_for([], 5)
    yield ask_for(["dead"], 12)
    yield ask_for(["c0", "nobody"], 9, include_topic_authorized_operations=True)
    yield ask_for(["c0"], 9, include_cluster_authorized_operations=True)
    for name, version in ((None, 12), ("c0", 10), (None, 10)):
        asked = MetadataRequestTopic(
            topic_id=NOBODYS_ID if name or version > 10 else ZERO_UUID, name=name
        )
        yield MetadataRequest(topics=[asked], allow_auto_topic_creation=False), version
    yield ask_for(["automatic", "a b", "c_0.x"], 12, allow_auto_topic_creation=True)


def ask_for(names: list[str], version: int, **fields: bool) -> Question:
    if version > 3:
        fields.setdefault("allow_auto_topic_creation", False)
    topics = [MetadataRequestTopic(name=name) for name in names]
    return MetadataRequest(topics=topics, **fields), version


def describe(
    *resources: tuple[int, str], keys: list[str] | None = None, version: int = 4
) -> Question:
    asked = [
        DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
        for kind, name in resources
    ]
    return DescribeConfigsRequest(resources=asked, include_synonyms=version > 0), version


def descriptions() -> Iterator[Question]:
    for version in range(5):
        yield describe((TOPIC, "c0"), version=version)
    yield describe((BROKER, ""))
    yield describe((TOPIC, "nobody"), (TOPIC, "a b"), (BROKER, "7"), (BROKER, "x"))
    yield describe((LOGGER, ""), (LOGGER, "7"), (CLIENT_METRICS, ""), (CLIENT_METRICS, "m"))
    yield describe((77, "x"), (BROKER, "1"))
    yield describe((TOPIC, "c0"), keys=["flush.ms", "nonsense"])
    yield describe((TOPIC, "c0"), keys=[])


def alterations() -> Iterator[Question]:
    for resource in (
        whole.resource(TOPIC, "c0", flush_ms="5"),
        whole.resource(TOPIC, "nobody", flush_ms="5"),
        whole.resource(TOPIC, ""),
        whole.resource(TOPIC, "c1", flush_ms=None),
        whole.resource(TOPIC, "c2", nonsense="1"),
        whole.resource(TOPIC, "c3", flush_ms="soon"),
        whole.resource(BROKER, "7"),
        whole.resource(BROKER, "x"),
        whole.resource(BROKER, "1", broker_rack="r"),
        whole.resource(BROKER, "", log_retention_ms="soon"),
        whole.resource(LOGGER, "1", root="INFO"),
        whole.resource(CLIENT_METRICS, "m"),
        whole.resource(77, "x"),
    ):
        yield AlterConfigsRequest(resources=[resource], validate_only=False), 2
    for one in (
        single.resource(TOPIC, "c0", ("retention.ms", 0, "7"), ("cleanup.policy", 2, "compact")),
        single.resource(TOPIC, "c0", ("cleanup.policy", 3, "delete"), ("segment.ms", 1, None)),
        single.resource(TOPIC, "nobody", ("flush.ms", 0, "5")),
        single.resource(TOPIC, ""),
        single.resource(TOPIC, "c1", ("flush.ms", 0, None)),
        single.resource(TOPIC, "c2", ("flush.ms", 0, "1"), ("flush.ms", 0, "2")),
        single.resource(TOPIC, "c3", ("flush.ms", 2, "1")),
        single.resource(TOPIC, "c4", ("nonsense", 0, "1")),
        single.resource(TOPIC, "c5", ("flush.ms", 0, "soon")),
        single.resource(BROKER, "7"),
        single.resource(BROKER, "1", ("broker.rack", 0, "r")),
        single.resource(BROKER, "1", ("log.retention.ms", 9, "1")),
        single.resource(BROKER, "", ("advertised.listeners", 0, "PLAINTEXT://h:1")),
        single.resource(LOGGER, "1", ("nobody", 0, "INFO")),
        single.resource(LOGGER, "1", ("root", 1, None)),
        single.resource(LOGGER, "1", ("root", 0, "LOUD")),
        single.resource(LOGGER, "1", ("root", 2, "INFO")),
        single.resource(LOGGER, "7", ("root", 0, "INFO")),
        single.resource(CLIENT_METRICS, "m"),
        single.resource(77, "x"),
    ):
        yield IncrementalAlterConfigsRequest(resources=[one], validate_only=False), 1
    checked = single.resource(TOPIC, "c0", ("segment.ms", 0, "9"))
    yield IncrementalAlterConfigsRequest(resources=[checked], validate_only=True), 1
    yield describe((TOPIC, "c0"))


def growth() -> Iterator[Question]:
    cases: list[tuple[str, int, list[list[int]] | None]] = [
        ("c0", 4, None),
        ("c1", 1, None),
        ("c2", 2, None),
        ("nobody", 3, None),
        ("c3", 3, [[9]]),
        ("c4", 3, [[1], [1]]),
        ("c5", 3, [[]]),
        ("c6", 3, [[1, 1]]),
        ("c7", 3, [[1]]),
    ]
    for name, count, by_hand in cases:
        yield grow([name], count, by_hand)
    yield grow(["c0", "c0"], 5)
    yield grow(["c0"], 9, validate_only=True)


def grow(
    names: list[str], count: int, by_hand: list[list[int]] | None = None, **fields: Any
) -> Question:
    assignments = None
    if by_hand is not None:
        assignments = [CreatePartitionsAssignment(broker_ids=it) for it in by_hand]
    topics = [CreatePartitionsTopic(name=it, count=count, assignments=assignments) for it in names]
    given = {"timeout_ms": 10_000, "validate_only": False} | fields
    return CreatePartitionsRequest(topics=topics, **given), 3


def the_rest() -> Iterator[Question]:
    for version, kind in ((0, 1), (1, 1), (1, 2), (1, 9)):
        asked = DescribeClusterRequest(
            include_cluster_authorized_operations=version == 0, endpoint_type=kind
        )
        yield asked, version
    for version in range(5):
        yield DescribeLogDirsRequest(topics=None), version
    some = [
        DescribableLogDirTopic(topic="c0", partitions=[0, 7]),
        DescribableLogDirTopic(topic="nobody", partitions=[0]),
    ]
    yield DescribeLogDirsRequest(topics=some), 4
    yield DescribeLogDirsRequest(topics=[]), 4
    topics = [
        TopicRequest(name="c0", partition_indexes=[0, 77]),
        TopicRequest(name="nobody", partition_indexes=[0]),
        TopicRequest(name="a b", partition_indexes=[0]),
    ]
    yield DescribeProducersRequest(topics=topics), 0
    updates = [
        FeatureUpdateKey(feature="f", max_version_level=1),
        FeatureUpdateKey(feature="g", max_version_level=0, upgrade_type=2),
        FeatureUpdateKey(feature="", max_version_level=1),
        FeatureUpdateKey(feature="h", max_version_level=0),
        FeatureUpdateKey(feature="i", max_version_level=1, upgrade_type=9),
    ]
    yield UpdateFeaturesRequest(feature_updates=updates), 1


def credentials() -> Iterator[Question]:
    def upsertion(name: str, mechanism: int = 1, count: int = 4096) -> ScramCredentialUpsertion:
        return ScramCredentialUpsertion(
            name=name, mechanism=mechanism, iterations=count, salt=b"s", salted_password=b"p"
        )

    new = [upsertion("bob"), upsertion("bob", 2, 5000), upsertion(""), upsertion("odd", 9)]
    new += [upsertion("few", 1, 1), upsertion("many", 1, 20_000), upsertion("twice")]
    gone = [ScramCredentialDeletion(name=it, mechanism=1) for it in ("nobody", "", "twice")]
    yield AlterUserScramCredentialsRequest(deletions=gone, upsertions=new), 0
    for users in (None, [], ["bob", "x", "y", "y", ""]):
        named = None if users is None else [UserName(name=it) for it in users]
        yield DescribeUserScramCredentialsRequest(users=named), 0
    bob = ScramCredentialDeletion(name="bob", mechanism=1)
    yield AlterUserScramCredentialsRequest(deletions=[bob], upsertions=[]), 0
    yield DescribeUserScramCredentialsRequest(users=[UserName(name="bob")]), 0


def quotas() -> Iterator[Question]:
    yield limit({"user": "a b"}, producer_byte_rate=10.0)
    yield limit({"user": "u", "client-id": None}, consumer_byte_rate=5.0)
    yield limit({"client-id": "c*~"}, request_percentage=12.5, controller_mutation_rate=1e7)
    yield limit({"ip": "10.1.2.3"}, connection_creation_rate=3.0)
    for wrong in ({}, {"user": ""}, {"group": "x"}, {"ip": "10.1.2.3", "user": "q"}):
        yield limit(wrong, producer_byte_rate=1.0)
    yield limit({"user": "z"}, nonsense=1.0)
    yield limit({"user": "y"}, producer_byte_rate=1.5)
    yield limit({"ip": "no.such.host.invalid"}, connection_creation_rate=1.0)
    yield limit({"ip": "10.1.2.3"}, connection_creation_rate=-1.0)
    everybody = ("user", 2, None)
    yield filtered()
    yield filtered(strict=True)
    yield filtered(everybody)
    yield filtered(("user", 0, "a b"), strict=True)
    yield filtered(("user", 0, "u"), ("client-id", 1, None))
    yield filtered(("client-id", 2, None))
    yield filtered(("ip", 2, None))
    for bad in (("", 2, None), ("group", 2, None), ("user", 7, None), ("user", 0, None)):
        yield filtered(bad)
    yield filtered(everybody, ("ip", 2, None))
    yield filtered(everybody, everybody)
    yield limit({"user": "u", "client-id": None}, consumer_byte_rate=None)
    yield filtered()


def limit(entity: dict[str, str | None] | dict[str, str], **values: float | None) -> Question:
    entry = AlterClientQuotasRequestEntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()],
        ops=[
            OpData(key=key, value=value or 0.0, remove=value is None)
            for key, value in values.items()
        ],
    )
    return AlterClientQuotasRequest(entries=[entry], validate_only=False), 1


def filtered(*components: tuple[str, int, str | None], strict: bool = False) -> Question:
    asked = [
        ComponentData(entity_type=kind, match_type=match_type, match=name)
        for kind, match_type, name in components
    ]
    return DescribeClientQuotasRequest(components=asked, strict=strict), 1


def deletions() -> Iterator[Question]:
    for version in range(6):
        names = [f"c{version}", "nobody"]
        yield DeleteTopicsRequest(topics=[], topic_names=names, timeout_ms=10_000), version
    for timeout_ms, *topics in (
        (10_000, ("c6", ZERO_UUID), ("nobody", ZERO_UUID)),
        (10_000, (None, NOBODYS_ID)),
        (10_000, ("c7", NOBODYS_ID)),
        (10_000, (None, ZERO_UUID)),
        (10_000, ("c7", ZERO_UUID), ("c7", ZERO_UUID)),
        (500, ("dead", ZERO_UUID)),
        (0, ("defaults", ZERO_UUID)),
    ):
        states = [DeleteTopicState(name=name, topic_id=it) for name, it in topics]
        yield DeleteTopicsRequest(topics=states, topic_names=[], timeout_ms=timeout_ms), 6
