"""CreateTopics (key 19, versions 0-7, flexible from 5).

Create topics, or only check whether one could.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Bool, Int8, Int16, Int32, Message, String, Struct, Uuid, field


class CreatableReplicaAssignment(Struct):
    partition_index: Int32
    broker_ids: list[Int32]


class CreatableTopicConfig(Struct):
    name: String
    value: String | None


class CreatableTopic(Struct):
    name: String
    num_partitions: Int32
    replication_factor: Int16
    assignments: list[CreatableReplicaAssignment]
    configs: list[CreatableTopicConfig]


class CreateTopicsRequest(Message, api_key=19, versions="0-7", flexible="5+"):
    topics: list[CreatableTopic]
    timeout_ms: Int32 = 60000
    validate_only: Bool = field("1+")


class CreatableTopicConfigs(Struct):
    name: String
    value: String | None
    read_only: Bool
    config_source: Int8 = -1
    is_sensitive: Bool


class CreatableTopicResult(Struct):
    name: String
    topic_id: Uuid = field("7+", ignorable=True)
    error_code: Int16
    error_message: String | None = field("1+", ignorable=True)
    topic_config_error_code: Int16 = field("5+", tag=0, ignorable=True)
    num_partitions: Int32 = field("5+", default=-1, ignorable=True)
    replication_factor: Int16 = field("5+", default=-1, ignorable=True)
    configs: list[CreatableTopicConfigs] | None = field("5+", ignorable=True)


class CreateTopicsResponse(Message, api_key=19, versions="0-7", flexible="5+"):
    throttle_time_ms: Int32 = field("2+", ignorable=True)
    topics: list[CreatableTopicResult]
