"""What brokers are asked side by side, one function a subject.

The same questions go to Apache's broker and to ours, each new and with `SETTINGS`. Topics are
created and deleted by the dialogue alone, so both have one history.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from odradek.kafka.wire.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from odradek.kafka.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from odradek.kafka.wire.messages.delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicState,
)
from odradek.kafka.wire.messages.describe_cluster import (
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from odradek.kafka.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from odradek.kafka.wire.schema import ZERO_UUID
from tests.kafka.server.dialogues_configs import configs_dialogue
from tests.kafka.server.dialogues_records import (
    fetch_dialogue,
    offsets_dialogue,
    produce_dialogue,
)
from tests.kafka.server.transcript import Transcript

SETTINGS: dict[str, object] = {
    "num.partitions": 2,
    "message.max.bytes": 20_000,
    "log.retention.ms": -1,  # The records of the dialogues are old.
}
UNKNOWN_ID = b"\x07" * 16
LONG_NAME = "n" * 250

Assignment = Iterable[tuple[int, list[int]]]


def new_topic(
    name: str, partitions: int, replicas: int = 1, assignment: Assignment = (), **configs: str
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=replicas,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=ids)
            for index, ids in assignment
        ],
        configs=[
            CreatableTopicConfig(name=key.replace("_", "."), value=value)
            for key, value in configs.items()
        ],
    )


def create(
    to: Transcript,
    note: str,
    *topics: CreatableTopic,
    version: int = 7,
    only_validate: bool = False,
) -> CreateTopicsResponse:
    request = CreateTopicsRequest(topics=list(topics), validate_only=only_validate)
    return to.ask(request, version, CreateTopicsResponse, note)


def topics_dialogue(to: Transcript) -> None:
    to.title("CreateTopics: what is made")
    for version in range(8):
        create(to, f"of v{version}", new_topic(f"v{version}", 2), version=version)
    create(to, "defaults", new_topic("defaults", -1, -1))
    create(to, "assigned", new_topic("assigned", -1, -1, [(0, [1]), (1, [1])]))
    create(to, "configured", new_topic("configured", 1, cleanup_policy="compact", segment_ms="9"))
    create(to, "only validated", new_topic("validated", 3, flush_ms="7"), only_validate=True)

    to.title("CreateTopics: what is refused")
    create(to, "exists", new_topic("defaults", 1))
    create(to, "exists, only validated", new_topic("defaults", 1), only_validate=True)
    create(to, "twice", new_topic("twice", 1), new_topic("twice", 2))
    create(to, "no partition", new_topic("none", 0))
    create(to, "minus two", new_topic("none", -2))
    create(to, "too many replicas", new_topic("none", 1, 2))
    create(to, "no replica", new_topic("none", 1, 0))
    for name in ("", ".", "..", "a b", "ä", LONG_NAME):
        create(to, f"named {name[:10]!r}", new_topic(name, 1))
    create(to, "collides", new_topic("co.lli", 1))
    create(to, "collides", new_topic("co_lli", 1))
    create(to, "unknown config", new_topic("none", 1, no_such="1"))
    create(to, "bad value", new_topic("none", 1, retention_ms="long"))
    create(to, "below the least", new_topic("none", 1, max_message_bytes="-1"))
    create(to, "no such policy", new_topic("none", 1, cleanup_policy="burn"))
    create(to, "count and assignment", new_topic("none", 2, 1, [(0, [1])]))
    create(to, "a gap", new_topic("none", -1, -1, [(0, [1]), (2, [1])]))
    unknown = new_topic("none", -1, -1, [(0, [9])])
    create(to, "unknown broker", unknown, only_validate=True)
    create(to, "the same broker twice", new_topic("none", -1, -1, [(0, [1, 1])]))
    create(to, "unequal", new_topic("uneven", -1, -1, [(0, [1]), (1, [1, 2])]))
    create(to, "internal", new_topic("__consumer_offsets", 1))

    partitions_part(to)
    metadata_part(to)
    deletion_part(to)


def partitions_part(to: Transcript) -> None:
    to.title("CreatePartitions")

    def grow(note: str, name: str, count: int, *assigned: list[int], version: int = 3) -> None:
        assignments = [CreatePartitionsAssignment(broker_ids=ids) for ids in assigned] or None
        topic = CreatePartitionsTopic(name=name, count=count, assignments=assignments)
        request = CreatePartitionsRequest(
            topics=[topic], timeout_ms=30_000, validate_only=note == "validate"
        )
        to.ask(request, version, CreatePartitionsResponse, note)

    for version in range(4):
        grow("one more", f"v{version}", 3, version=version)
    grow("assigned", "v4", 3, [1])
    grow("validate", "v4", 9)
    grow("as many", "v4", 3)
    grow("fewer", "v4", 1)
    grow("zero", "v4", 0)
    grow("unknown", "nowhere", 2)
    grow("too few assigned", "v4", 5, [1])
    grow("unknown broker", "v4", 4, [8])
    grow("too many replicas", "v4", 4, [1, 2])
    grow("nobody", "v4", 4, [])


def metadata_part(to: Transcript) -> None:
    to.title("Metadata")

    def look(note: str, names: list[str] | None, version: int = 12, *, makes: bool = False) -> None:
        topics = None if names is None else [MetadataRequestTopic(name=name) for name in names]
        request = MetadataRequest(
            topics=topics,
            allow_auto_topic_creation=makes or version < 4,
            include_topic_authorized_operations=version >= 8,
            include_cluster_authorized_operations=8 <= version <= 10,
        )
        to.ask(request, version, MetadataResponse, note)

    for version in range(13):
        look("a topic", ["v1"], version)
        look("no topic", [] if version else ["v2"], version)
    look("unknown, not made", ["nowhere"])
    for name in ("", "a b", "..", LONG_NAME):
        look(f"named {name[:10]!r}", [name], makes=True)
    look("unknown, made", ["automatic"], makes=True)
    look("twice", ["v1", "v1"])
    look("internal", ["__transaction_state"])
    odd: list[tuple[str, bytes, str | None]] = [
        ("unknown id", UNKNOWN_ID, None),
        ("neither", ZERO_UUID, None),
        ("both", UNKNOWN_ID, "v1"),
    ]
    for note, topic_id, named in odd:
        topic = MetadataRequestTopic(topic_id=topic_id, name=named)
        to.provoke(MetadataRequest(topics=[topic]), 12, note)
    to.provoke(MetadataRequest(topics=[MetadataRequestTopic(topic_id=UNKNOWN_ID, name="x")]), 10)
    for version in range(2):
        request = DescribeClusterRequest(include_cluster_authorized_operations=True)
        to.ask(request, version, DescribeClusterResponse)
    request = DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=2)
    to.ask(request, 1, DescribeClusterResponse, "the controllers")


def deletion_part(to: Transcript) -> None:
    to.title("DeleteTopics")

    def delete(note: str, *topics: DeleteTopicState, version: int = 6) -> None:
        names = [topic.name or "" for topic in topics]
        request = DeleteTopicsRequest(
            topics=list(topics) if version == 6 else [],
            topic_names=names if version < 6 else [],
            timeout_ms=30_000,
        )
        to.provoke(request, version, note)

    def named(name: str | None, topic_id: bytes = ZERO_UUID) -> DeleteTopicState:
        return DeleteTopicState(name=name, topic_id=topic_id)

    for version in range(7):
        delete("by name", named(f"v{version}"), version=version)
        delete("again", named(f"v{version}"), version=version)
    topics = [MetadataRequestTopic(name="v7")]
    known = to.ask_silently(MetadataRequest(topics=topics), 12, MetadataResponse)
    delete("by id", named(None, known.topics[0].topic_id))
    delete("unknown id", named(None, UNKNOWN_ID))
    delete("both", named("defaults", UNKNOWN_ID))
    delete("neither", named(None))
    delete("twice", named("defaults"), named("defaults"))
    delete("at last", named("defaults"))


DIALOGUES: dict[str, Callable[[Transcript], None]] = {
    "topics": topics_dialogue,
    "produce": produce_dialogue,
    "offsets": offsets_dialogue,
    "fetch": fetch_dialogue,
    "configs": configs_dialogue,
}
