"""Messages that a ZooKeeper-mode broker never sees, declared to judge the compilers by them too."""

from __future__ import annotations

from odradek.kafka.wire.schema import (
    Bool,
    Bytes,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Message,
    Records,
    String,
    Struct,
    Uint16,
    Uuid,
    field,
)


class VoteRequestPartitionData(Struct):
    partition_index: Int32
    candidate_epoch: Int32
    candidate_id: Int32
    candidate_directory_id: Uuid = field("1+", ignorable=True)
    voter_directory_id: Uuid = field("1+", ignorable=True)
    last_offset_epoch: Int32
    last_offset: Int64


class VoteRequestTopicData(Struct):
    topic_name: String
    partitions: list[VoteRequestPartitionData]


class VoteRequest(Message, api_key=52, versions="0-1", flexible="0+"):
    cluster_id: String | None = None
    voter_id: Int32 = field("1+", default=-1, ignorable=True)
    topics: list[VoteRequestTopicData]


class VoteResponsePartitionData(Struct):
    partition_index: Int32
    error_code: Int16
    leader_id: Int32
    leader_epoch: Int32
    vote_granted: Bool


class VoteResponseTopicData(Struct):
    topic_name: String
    partitions: list[VoteResponsePartitionData]


class VoteResponseNodeEndpoint(Struct):
    node_id: Int32
    host: String
    port: Uint16


class VoteResponse(Message, api_key=52, versions="0-1", flexible="0+"):
    error_code: Int16
    topics: list[VoteResponseTopicData]
    node_endpoints: list[VoteResponseNodeEndpoint] = field("1+", tag=0)


class BeginQuorumEpochRequestPartitionData(Struct):
    partition_index: Int32
    voter_directory_id: Uuid = field("1+", ignorable=True)
    leader_id: Int32
    leader_epoch: Int32


class BeginQuorumEpochRequestTopicData(Struct):
    topic_name: String
    partitions: list[BeginQuorumEpochRequestPartitionData]


class BeginQuorumEpochRequestLeaderEndpoint(Struct):
    name: String
    host: String
    port: Uint16


class BeginQuorumEpochRequest(Message, api_key=53, versions="0-1", flexible="1+"):
    cluster_id: String | None = None
    voter_id: Int32 = field("1+", default=-1, ignorable=True)
    topics: list[BeginQuorumEpochRequestTopicData]
    leader_endpoints: list[BeginQuorumEpochRequestLeaderEndpoint] = field("1+", ignorable=True)


class BeginQuorumEpochResponsePartitionData(Struct):
    partition_index: Int32
    error_code: Int16
    leader_id: Int32
    leader_epoch: Int32


class BeginQuorumEpochResponseTopicData(Struct):
    topic_name: String
    partitions: list[BeginQuorumEpochResponsePartitionData]


class BeginQuorumEpochResponseNodeEndpoint(Struct):
    node_id: Int32
    host: String
    port: Uint16


class BeginQuorumEpochResponse(Message, api_key=53, versions="0-1", flexible="1+"):
    error_code: Int16
    topics: list[BeginQuorumEpochResponseTopicData]
    node_endpoints: list[BeginQuorumEpochResponseNodeEndpoint] = field("1+", tag=0)


class ReplicaInfo(Struct):
    candidate_id: Int32
    candidate_directory_id: Uuid


class EndQuorumEpochRequestPartitionData(Struct):
    partition_index: Int32
    leader_id: Int32
    leader_epoch: Int32
    preferred_successors: list[Int32] = field("0", ignorable=True)
    preferred_candidates: list[ReplicaInfo] = field("1+", ignorable=True)


class EndQuorumEpochRequestTopicData(Struct):
    topic_name: String
    partitions: list[EndQuorumEpochRequestPartitionData]


class EndQuorumEpochRequestLeaderEndpoint(Struct):
    name: String
    host: String
    port: Uint16


class EndQuorumEpochRequest(Message, api_key=54, versions="0-1", flexible="1+"):
    cluster_id: String | None = None
    topics: list[EndQuorumEpochRequestTopicData]
    leader_endpoints: list[EndQuorumEpochRequestLeaderEndpoint] = field("1+", ignorable=True)


class EndQuorumEpochResponsePartitionData(Struct):
    partition_index: Int32
    error_code: Int16
    leader_id: Int32
    leader_epoch: Int32


class EndQuorumEpochResponseTopicData(Struct):
    topic_name: String
    partitions: list[EndQuorumEpochResponsePartitionData]


class EndQuorumEpochResponseNodeEndpoint(Struct):
    node_id: Int32
    host: String
    port: Uint16


class EndQuorumEpochResponse(Message, api_key=54, versions="0-1", flexible="1+"):
    error_code: Int16
    topics: list[EndQuorumEpochResponseTopicData]
    node_endpoints: list[EndQuorumEpochResponseNodeEndpoint] = field("1+", tag=0)


class DescribeQuorumRequestPartitionData(Struct):
    partition_index: Int32


class DescribeQuorumRequestTopicData(Struct):
    topic_name: String
    partitions: list[DescribeQuorumRequestPartitionData]


class DescribeQuorumRequest(Message, api_key=55, versions="0-2", flexible="0+"):
    topics: list[DescribeQuorumRequestTopicData]


class ReplicaState(Struct):
    replica_id: Int32
    replica_directory_id: Uuid = field("2+")
    log_end_offset: Int64
    last_fetch_timestamp: Int64 = field("1+", default=-1, ignorable=True)
    last_caught_up_timestamp: Int64 = field("1+", default=-1, ignorable=True)


class DescribeQuorumResponsePartitionData(Struct):
    partition_index: Int32
    error_code: Int16
    error_message: String | None = field("2+", ignorable=True)
    leader_id: Int32
    leader_epoch: Int32
    high_watermark: Int64
    current_voters: list[ReplicaState]
    observers: list[ReplicaState]


class DescribeQuorumResponseTopicData(Struct):
    topic_name: String
    partitions: list[DescribeQuorumResponsePartitionData]


class DescribeQuorumResponseListener(Struct):
    name: String
    host: String
    port: Uint16


class Node(Struct):
    node_id: Int32
    listeners: list[DescribeQuorumResponseListener]


class DescribeQuorumResponse(Message, api_key=55, versions="0-2", flexible="0+"):
    error_code: Int16
    error_message: String | None = field("2+", ignorable=True)
    topics: list[DescribeQuorumResponseTopicData]
    nodes: list[Node] = field("2+")


class FetchSnapshotRequestSnapshotId(Struct):
    end_offset: Int64
    epoch: Int32


class FetchSnapshotRequestPartitionSnapshot(Struct):
    partition: Int32
    current_leader_epoch: Int32
    snapshot_id: FetchSnapshotRequestSnapshotId
    position: Int64
    replica_directory_id: Uuid = field("1+", tag=0, ignorable=True)


class FetchSnapshotRequestTopicSnapshot(Struct):
    name: String
    partitions: list[FetchSnapshotRequestPartitionSnapshot]


class FetchSnapshotRequest(Message, api_key=59, versions="0-1", flexible="0+"):
    cluster_id: String | None = field(default=None, tag=0)
    replica_id: Int32 = -1
    max_bytes: Int32 = 2147483647
    topics: list[FetchSnapshotRequestTopicSnapshot]


class FetchSnapshotResponseSnapshotId(Struct):
    end_offset: Int64
    epoch: Int32


class FetchSnapshotResponseLeaderIdAndEpoch(Struct):
    leader_id: Int32
    leader_epoch: Int32


class FetchSnapshotResponsePartitionSnapshot(Struct):
    index: Int32
    error_code: Int16
    snapshot_id: FetchSnapshotResponseSnapshotId
    current_leader: FetchSnapshotResponseLeaderIdAndEpoch = field(tag=0)
    size: Int64
    position: Int64
    unaligned_records: Records


class FetchSnapshotResponseTopicSnapshot(Struct):
    name: String
    partitions: list[FetchSnapshotResponsePartitionSnapshot]


class FetchSnapshotResponseNodeEndpoint(Struct):
    node_id: Int32
    host: String
    port: Uint16


class FetchSnapshotResponse(Message, api_key=59, versions="0-1", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    topics: list[FetchSnapshotResponseTopicSnapshot]
    node_endpoints: list[FetchSnapshotResponseNodeEndpoint] = field("1+", tag=0)


class BrokerRegistrationRequestListener(Struct):
    name: String
    host: String
    port: Uint16
    security_protocol: Int16


class BrokerRegistrationRequestFeature(Struct):
    name: String
    min_supported_version: Int16
    max_supported_version: Int16


class BrokerRegistrationRequest(Message, api_key=62, versions="0-4", flexible="0+"):
    broker_id: Int32
    cluster_id: String
    incarnation_id: Uuid
    listeners: list[BrokerRegistrationRequestListener]
    features: list[BrokerRegistrationRequestFeature]
    rack: String | None
    is_migrating_zk_broker: Bool = field("1+")
    log_dirs: list[Uuid] = field("2+", ignorable=True)
    previous_broker_epoch: Int64 = field("3+", default=-1, ignorable=True)


class BrokerRegistrationResponse(Message, api_key=62, versions="0-4", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    broker_epoch: Int64 = -1


class BrokerHeartbeatRequest(Message, api_key=63, versions="0-1", flexible="0+"):
    broker_id: Int32
    broker_epoch: Int64 = -1
    current_metadata_offset: Int64
    want_fence: Bool
    want_shut_down: Bool
    offline_log_dirs: list[Uuid] = field("1+", tag=0)


class BrokerHeartbeatResponse(Message, api_key=63, versions="0-1", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    is_caught_up: Bool = False
    is_fenced: Bool = True
    should_shut_down: Bool


class UnregisterBrokerRequest(Message, api_key=64, versions="0", flexible="0+"):
    broker_id: Int32


class UnregisterBrokerResponse(Message, api_key=64, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: String | None


class ControllerRegistrationRequestListener(Struct):
    name: String
    host: String
    port: Uint16
    security_protocol: Int16


class ControllerRegistrationRequestFeature(Struct):
    name: String
    min_supported_version: Int16
    max_supported_version: Int16


class ControllerRegistrationRequest(Message, api_key=70, versions="0", flexible="0+"):
    controller_id: Int32
    incarnation_id: Uuid
    zk_migration_ready: Bool
    listeners: list[ControllerRegistrationRequestListener]
    features: list[ControllerRegistrationRequestFeature]


class ControllerRegistrationResponse(Message, api_key=70, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: String | None


class AssignReplicasToDirsRequestPartitionData(Struct):
    partition_index: Int32


class AssignReplicasToDirsRequestTopicData(Struct):
    topic_id: Uuid
    partitions: list[AssignReplicasToDirsRequestPartitionData]


class AssignReplicasToDirsRequestDirectoryData(Struct):
    id: Uuid
    topics: list[AssignReplicasToDirsRequestTopicData]


class AssignReplicasToDirsRequest(Message, api_key=73, versions="0", flexible="0+"):
    broker_id: Int32
    broker_epoch: Int64 = -1
    directories: list[AssignReplicasToDirsRequestDirectoryData]


class AssignReplicasToDirsResponsePartitionData(Struct):
    partition_index: Int32
    error_code: Int16


class AssignReplicasToDirsResponseTopicData(Struct):
    topic_id: Uuid
    partitions: list[AssignReplicasToDirsResponsePartitionData]


class AssignReplicasToDirsResponseDirectoryData(Struct):
    id: Uuid
    topics: list[AssignReplicasToDirsResponseTopicData]


class AssignReplicasToDirsResponse(Message, api_key=73, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    directories: list[AssignReplicasToDirsResponseDirectoryData]


class ShareGroupHeartbeatRequest(Message, api_key=76, versions="0", flexible="0+"):
    group_id: String
    member_id: String
    member_epoch: Int32
    rack_id: String | None = None
    subscribed_topic_names: list[String] | None = None


class ShareGroupHeartbeatResponseTopicPartitions(Struct):
    topic_id: Uuid
    partitions: list[Int32]


class ShareGroupHeartbeatResponseAssignment(Struct):
    topic_partitions: list[ShareGroupHeartbeatResponseTopicPartitions]


class ShareGroupHeartbeatResponse(Message, api_key=76, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: String | None = None
    member_id: String | None = None
    member_epoch: Int32
    heartbeat_interval_ms: Int32
    assignment: ShareGroupHeartbeatResponseAssignment | None = None


class ShareGroupDescribeRequest(Message, api_key=77, versions="0", flexible="0+"):
    group_ids: list[String]
    include_authorized_operations: Bool


class ShareGroupDescribeResponseTopicPartitions(Struct):
    topic_id: Uuid
    topic_name: String
    partitions: list[Int32]


class ShareGroupDescribeResponseAssignment(Struct):
    topic_partitions: list[ShareGroupDescribeResponseTopicPartitions]


class Member(Struct):
    member_id: String
    rack_id: String | None = None
    member_epoch: Int32
    client_id: String
    client_host: String
    subscribed_topic_names: list[String]
    assignment: ShareGroupDescribeResponseAssignment


class DescribedGroup(Struct):
    error_code: Int16
    error_message: String | None = None
    group_id: String
    group_state: String
    group_epoch: Int32
    assignment_epoch: Int32
    assignor_name: String
    members: list[Member]
    authorized_operations: Int32 = -2147483648


class ShareGroupDescribeResponse(Message, api_key=77, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    groups: list[DescribedGroup]


class ShareFetchRequestAcknowledgementBatch(Struct):
    first_offset: Int64
    last_offset: Int64
    acknowledge_types: list[Int8]


class FetchPartition(Struct):
    partition_index: Int32
    partition_max_bytes: Int32
    acknowledgement_batches: list[ShareFetchRequestAcknowledgementBatch]


class FetchTopic(Struct):
    topic_id: Uuid
    partitions: list[FetchPartition]


class ForgottenTopic(Struct):
    topic_id: Uuid
    partitions: list[Int32]


class ShareFetchRequest(Message, api_key=78, versions="0", flexible="0+"):
    group_id: String | None = None
    member_id: String | None
    share_session_epoch: Int32
    max_wait_ms: Int32
    min_bytes: Int32
    max_bytes: Int32 = 2147483647
    topics: list[FetchTopic]
    forgotten_topics_data: list[ForgottenTopic]


class ShareFetchResponseLeaderIdAndEpoch(Struct):
    leader_id: Int32
    leader_epoch: Int32


class AcquiredRecords(Struct):
    first_offset: Int64
    last_offset: Int64
    delivery_count: Int16


class ShareFetchResponsePartitionData(Struct):
    partition_index: Int32
    error_code: Int16
    error_message: String | None = None
    acknowledge_error_code: Int16
    acknowledge_error_message: String | None = None
    current_leader: ShareFetchResponseLeaderIdAndEpoch
    records: Records | None
    acquired_records: list[AcquiredRecords]


class ShareFetchableTopicResponse(Struct):
    topic_id: Uuid
    partitions: list[ShareFetchResponsePartitionData]


class ShareFetchResponseNodeEndpoint(Struct):
    node_id: Int32
    host: String
    port: Int32
    rack: String | None = None


class ShareFetchResponse(Message, api_key=78, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: String | None = None
    responses: list[ShareFetchableTopicResponse]
    node_endpoints: list[ShareFetchResponseNodeEndpoint]


class ShareAcknowledgeRequestAcknowledgementBatch(Struct):
    first_offset: Int64
    last_offset: Int64
    acknowledge_types: list[Int8]


class AcknowledgePartition(Struct):
    partition_index: Int32
    acknowledgement_batches: list[ShareAcknowledgeRequestAcknowledgementBatch]


class AcknowledgeTopic(Struct):
    topic_id: Uuid
    partitions: list[AcknowledgePartition]


class ShareAcknowledgeRequest(Message, api_key=79, versions="0", flexible="0+"):
    group_id: String | None = None
    member_id: String | None
    share_session_epoch: Int32
    topics: list[AcknowledgeTopic]


class ShareAcknowledgeResponseLeaderIdAndEpoch(Struct):
    leader_id: Int32
    leader_epoch: Int32


class ShareAcknowledgeResponsePartitionData(Struct):
    partition_index: Int32
    error_code: Int16
    error_message: String | None = None
    current_leader: ShareAcknowledgeResponseLeaderIdAndEpoch


class ShareAcknowledgeTopicResponse(Struct):
    topic_id: Uuid
    partitions: list[ShareAcknowledgeResponsePartitionData]


class ShareAcknowledgeResponseNodeEndpoint(Struct):
    node_id: Int32
    host: String
    port: Int32
    rack: String | None = None


class ShareAcknowledgeResponse(Message, api_key=79, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: String | None = None
    responses: list[ShareAcknowledgeTopicResponse]
    node_endpoints: list[ShareAcknowledgeResponseNodeEndpoint]


class AddRaftVoterRequestListener(Struct):
    name: String
    host: String
    port: Uint16


class AddRaftVoterRequest(Message, api_key=80, versions="0", flexible="0+"):
    cluster_id: String | None
    timeout_ms: Int32
    voter_id: Int32
    voter_directory_id: Uuid
    listeners: list[AddRaftVoterRequestListener]


class AddRaftVoterResponse(Message, api_key=80, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: String | None


class RemoveRaftVoterRequest(Message, api_key=81, versions="0", flexible="0+"):
    cluster_id: String | None
    voter_id: Int32
    voter_directory_id: Uuid


class RemoveRaftVoterResponse(Message, api_key=81, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: String | None


class UpdateRaftVoterRequestListener(Struct):
    name: String
    host: String
    port: Uint16


class KRaftVersionFeature(Struct):
    min_supported_version: Int16
    max_supported_version: Int16


class UpdateRaftVoterRequest(Message, api_key=82, versions="0", flexible="0+"):
    cluster_id: String | None
    current_leader_epoch: Int32
    voter_id: Int32
    voter_directory_id: Uuid
    listeners: list[UpdateRaftVoterRequestListener]
    kraft_version_feature: KRaftVersionFeature


class CurrentLeader(Struct):
    leader_id: Int32 = -1
    leader_epoch: Int32 = -1
    host: String
    port: Int32


class UpdateRaftVoterResponse(Message, api_key=82, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    current_leader: CurrentLeader = field(tag=0)


class InitializeShareGroupStateRequestPartitionData(Struct):
    partition: Int32
    state_epoch: Int32
    start_offset: Int64


class InitializeStateData(Struct):
    topic_id: Uuid
    partitions: list[InitializeShareGroupStateRequestPartitionData]


class InitializeShareGroupStateRequest(Message, api_key=83, versions="0", flexible="0+"):
    group_id: String
    topics: list[InitializeStateData]


class InitializeShareGroupStateResponsePartitionResult(Struct):
    partition: Int32
    error_code: Int16
    error_message: String | None = None


class InitializeStateResult(Struct):
    topic_id: Uuid
    partitions: list[InitializeShareGroupStateResponsePartitionResult]


class InitializeShareGroupStateResponse(Message, api_key=83, versions="0", flexible="0+"):
    results: list[InitializeStateResult]


class ReadShareGroupStateRequestPartitionData(Struct):
    partition: Int32
    leader_epoch: Int32


class ReadStateData(Struct):
    topic_id: Uuid
    partitions: list[ReadShareGroupStateRequestPartitionData]


class ReadShareGroupStateRequest(Message, api_key=84, versions="0", flexible="0+"):
    group_id: String
    topics: list[ReadStateData]


class ReadShareGroupStateResponseStateBatch(Struct):
    first_offset: Int64
    last_offset: Int64
    delivery_state: Int8
    delivery_count: Int16


class ReadShareGroupStateResponsePartitionResult(Struct):
    partition: Int32
    error_code: Int16
    error_message: String | None = None
    state_epoch: Int32
    start_offset: Int64
    state_batches: list[ReadShareGroupStateResponseStateBatch]


class ReadStateResult(Struct):
    topic_id: Uuid
    partitions: list[ReadShareGroupStateResponsePartitionResult]


class ReadShareGroupStateResponse(Message, api_key=84, versions="0", flexible="0+"):
    results: list[ReadStateResult]


class WriteShareGroupStateRequestStateBatch(Struct):
    first_offset: Int64
    last_offset: Int64
    delivery_state: Int8
    delivery_count: Int16


class WriteShareGroupStateRequestPartitionData(Struct):
    partition: Int32
    state_epoch: Int32
    leader_epoch: Int32
    start_offset: Int64
    state_batches: list[WriteShareGroupStateRequestStateBatch]


class WriteStateData(Struct):
    topic_id: Uuid
    partitions: list[WriteShareGroupStateRequestPartitionData]


class WriteShareGroupStateRequest(Message, api_key=85, versions="0", flexible="0+"):
    group_id: String
    topics: list[WriteStateData]


class WriteShareGroupStateResponsePartitionResult(Struct):
    partition: Int32
    error_code: Int16
    error_message: String | None = None


class WriteStateResult(Struct):
    topic_id: Uuid
    partitions: list[WriteShareGroupStateResponsePartitionResult]


class WriteShareGroupStateResponse(Message, api_key=85, versions="0", flexible="0+"):
    results: list[WriteStateResult]


class DeleteShareGroupStateRequestPartitionData(Struct):
    partition: Int32


class DeleteStateData(Struct):
    topic_id: Uuid
    partitions: list[DeleteShareGroupStateRequestPartitionData]


class DeleteShareGroupStateRequest(Message, api_key=86, versions="0", flexible="0+"):
    group_id: String
    topics: list[DeleteStateData]


class DeleteShareGroupStateResponsePartitionResult(Struct):
    partition: Int32
    error_code: Int16
    error_message: String | None = None


class DeleteStateResult(Struct):
    topic_id: Uuid
    partitions: list[DeleteShareGroupStateResponsePartitionResult]


class DeleteShareGroupStateResponse(Message, api_key=86, versions="0", flexible="0+"):
    results: list[DeleteStateResult]


class ReadShareGroupStateSummaryRequestPartitionData(Struct):
    partition: Int32
    leader_epoch: Int32


class ReadStateSummaryData(Struct):
    topic_id: Uuid
    partitions: list[ReadShareGroupStateSummaryRequestPartitionData]


class ReadShareGroupStateSummaryRequest(Message, api_key=87, versions="0", flexible="0+"):
    group_id: String
    topics: list[ReadStateSummaryData]


class ReadShareGroupStateSummaryResponsePartitionResult(Struct):
    partition: Int32
    error_code: Int16
    error_message: String | None = None
    state_epoch: Int32
    start_offset: Int64


class ReadStateSummaryResult(Struct):
    topic_id: Uuid
    partitions: list[ReadShareGroupStateSummaryResponsePartitionResult]


class ReadShareGroupStateSummaryResponse(Message, api_key=87, versions="0", flexible="0+"):
    results: list[ReadStateSummaryResult]


class ShareGroupMemberMetadataKey(Message, versions="10"):
    group_id: String
    member_id: String


class ShareGroupMemberMetadataValue(Message, versions="0", flexible="0+"):
    rack_id: String | None
    client_id: String
    client_host: String
    subscribed_topic_names: list[String]


class ShareGroupMetadataKey(Message, versions="11"):
    group_id: String


class ShareGroupMetadataValue(Message, versions="0", flexible="0+"):
    epoch: Int32


class ShareGroupPartitionMetadataKey(Message, versions="9"):
    group_id: String


class TopicPartitionsInfo(Struct):
    topic_id: Uuid
    topic_name: String
    partitions: list[Int32]


class TopicInfo(Struct):
    topic_id: Uuid
    topic_name: String


class ShareGroupPartitionMetadataValue(Message, versions="0", flexible="0+"):
    initialized_topics: list[TopicPartitionsInfo]
    deleting_topics: list[TopicInfo]


class Voter(Struct):
    voter_id: Int32


class QuorumStateData(Message, versions="0-1", flexible="0+"):
    cluster_id: String = field("0")
    leader_id: Int32 = -1
    leader_epoch: Int32 = -1
    voted_id: Int32 = -1
    voted_directory_id: Uuid = field("1+")
    applied_offset: Int64 = field("0")
    current_voters: list[Voter] | None = field("0")


class RemoteLogSegmentMetadataRecordTopicIdPartitionEntry(Struct):
    name: String
    id: Uuid
    partition: Int32


class RemoteLogSegmentMetadataRecordRemoteLogSegmentIdEntry(Struct):
    topic_id_partition: RemoteLogSegmentMetadataRecordTopicIdPartitionEntry
    id: Uuid


class RemoteLogSegmentMetadataRecordSegmentLeaderEpochEntry(Struct):
    leader_epoch: Int32
    offset: Int64


class RemoteLogSegmentMetadataRecord(Message, api_key=0, versions="0", flexible="0+"):
    remote_log_segment_id: RemoteLogSegmentMetadataRecordRemoteLogSegmentIdEntry
    start_offset: Int64
    end_offset: Int64
    broker_id: Int32
    max_timestamp_ms: Int64
    event_timestamp_ms: Int64
    segment_leader_epochs: list[RemoteLogSegmentMetadataRecordSegmentLeaderEpochEntry]
    segment_size_in_bytes: Int32
    custom_metadata: Bytes | None = None
    remote_log_segment_state: Int8


class BrokerEndpoint(Struct):
    name: String
    host: String
    port: Uint16
    security_protocol: Int16


class BrokerFeature(Struct):
    name: String
    min_supported_version: Int16
    max_supported_version: Int16


class RegisterBrokerRecord(Message, api_key=0, versions="0-3", flexible="0+"):
    broker_id: Int32
    is_migrating_zk_broker: Bool = field("2+")
    incarnation_id: Uuid
    broker_epoch: Int64
    end_points: list[BrokerEndpoint]
    features: list[BrokerFeature]
    rack: String | None
    fenced: Bool = True
    in_controlled_shutdown: Bool = field("1+")
    log_dirs: list[Uuid] = field("3+", tag=0)


class RemoteLogSegmentMetadataUpdateRecordTopicIdPartitionEntry(Struct):
    name: String
    id: Uuid
    partition: Int32


class RemoteLogSegmentMetadataUpdateRecordRemoteLogSegmentIdEntry(Struct):
    topic_id_partition: RemoteLogSegmentMetadataUpdateRecordTopicIdPartitionEntry
    id: Uuid


class RemoteLogSegmentMetadataUpdateRecord(Message, api_key=1, versions="0", flexible="0+"):
    remote_log_segment_id: RemoteLogSegmentMetadataUpdateRecordRemoteLogSegmentIdEntry
    broker_id: Int32
    event_timestamp_ms: Int64
    custom_metadata: Bytes | None = None
    remote_log_segment_state: Int8


class UnregisterBrokerRecord(Message, api_key=1, versions="0", flexible="0+"):
    broker_id: Int32
    broker_epoch: Int64


class RemotePartitionDeleteMetadataRecordTopicIdPartitionEntry(Struct):
    name: String
    id: Uuid
    partition: Int32


class RemotePartitionDeleteMetadataRecord(Message, api_key=2, versions="0", flexible="0+"):
    topic_id_partition: RemotePartitionDeleteMetadataRecordTopicIdPartitionEntry
    broker_id: Int32
    event_timestamp_ms: Int64
    remote_partition_delete_state: Int8


class TopicRecord(Message, api_key=2, versions="0", flexible="0+"):
    name: String
    topic_id: Uuid


class RemoteLogSegmentMetadataSnapshotRecordSegmentLeaderEpochEntry(Struct):
    leader_epoch: Int32
    offset: Int64


class RemoteLogSegmentMetadataSnapshotRecord(Message, api_key=3, versions="0", flexible="0+"):
    segment_id: Uuid
    start_offset: Int64
    end_offset: Int64
    broker_id: Int32
    max_timestamp_ms: Int64
    event_timestamp_ms: Int64
    segment_leader_epochs: list[RemoteLogSegmentMetadataSnapshotRecordSegmentLeaderEpochEntry]
    segment_size_in_bytes: Int32
    custom_metadata: Bytes | None = None
    remote_log_segment_state: Int8


class PartitionRecord(Message, api_key=3, versions="0-2", flexible="0+"):
    partition_id: Int32 = -1
    topic_id: Uuid
    replicas: list[Int32]
    isr: list[Int32]
    removing_replicas: list[Int32]
    adding_replicas: list[Int32]
    leader: Int32 = -1
    leader_recovery_state: Int8 = field(default=0, tag=0)
    leader_epoch: Int32 = -1
    partition_epoch: Int32 = -1
    directories: list[Uuid] = field("1+")
    eligible_leader_replicas: list[Int32] | None = field("2+", default=None, tag=1)
    last_known_elr: list[Int32] | None = field("2+", default=None, tag=2)


class ConfigRecord(Message, api_key=4, versions="0", flexible="0+"):
    resource_type: Int8
    resource_name: String
    name: String
    value: String | None


class PartitionChangeRecord(Message, api_key=5, versions="0-2", flexible="0+"):
    partition_id: Int32 = -1
    topic_id: Uuid
    isr: list[Int32] | None = field(default=None, tag=0)
    leader: Int32 = field(default=-2, tag=1)
    replicas: list[Int32] | None = field(default=None, tag=2)
    removing_replicas: list[Int32] | None = field(default=None, tag=3)
    adding_replicas: list[Int32] | None = field(default=None, tag=4)
    leader_recovery_state: Int8 = field(default=-1, tag=5)
    directories: list[Uuid] | None = field("1+", default=None, tag=8)
    eligible_leader_replicas: list[Int32] | None = field("2+", default=None, tag=6)
    last_known_elr: list[Int32] | None = field("2+", default=None, tag=7)


class FenceBrokerRecord(Message, api_key=7, versions="0", flexible="0+"):
    id: Int32
    epoch: Int64


class UnfenceBrokerRecord(Message, api_key=8, versions="0", flexible="0+"):
    id: Int32
    epoch: Int64


class RemoveTopicRecord(Message, api_key=9, versions="0", flexible="0+"):
    topic_id: Uuid


class DelegationTokenRecord(Message, api_key=10, versions="0", flexible="0+"):
    owner: String
    requester: String
    renewers: list[String]
    issue_timestamp: Int64
    max_timestamp: Int64
    expiration_timestamp: Int64
    token_id: String


class UserScramCredentialRecord(Message, api_key=11, versions="0", flexible="0+"):
    name: String
    mechanism: Int8
    salt: Bytes
    stored_key: Bytes
    server_key: Bytes
    iterations: Int32


class FeatureLevelRecord(Message, api_key=12, versions="0", flexible="0+"):
    name: String
    feature_level: Int16


class EntityData(Struct):
    entity_type: String
    entity_name: String | None


class ClientQuotaRecord(Message, api_key=14, versions="0", flexible="0+"):
    entity: list[EntityData]
    key: String
    value: Float64
    remove: Bool


class ProducerIdsRecord(Message, api_key=15, versions="0", flexible="0+"):
    broker_id: Int32
    broker_epoch: Int64 = -1
    next_producer_id: Int64


class BrokerRegistrationChangeRecord(Message, api_key=17, versions="0-2", flexible="0+"):
    broker_id: Int32
    broker_epoch: Int64
    fenced: Int8 = field(tag=0)
    in_controlled_shutdown: Int8 = field("1+", tag=1)
    log_dirs: list[Uuid] = field("2+", tag=2)


class AccessControlEntryRecord(Message, api_key=18, versions="0", flexible="0+"):
    id: Uuid
    resource_type: Int8
    resource_name: String
    pattern_type: Int8
    principal: String
    host: String
    operation: Int8
    permission_type: Int8


class RemoveAccessControlEntryRecord(Message, api_key=19, versions="0", flexible="0+"):
    id: Uuid


class NoOpRecord(Message, api_key=20, versions="0", flexible="0+"):
    pass


class ZkMigrationStateRecord(Message, api_key=21, versions="0", flexible="0+"):
    zk_migration_state: Int8


class RemoveUserScramCredentialRecord(Message, api_key=22, versions="0", flexible="0+"):
    name: String
    mechanism: Int8


class BeginTransactionRecord(Message, api_key=23, versions="0", flexible="0+"):
    name: String | None = field(default=None, tag=0)


class EndTransactionRecord(Message, api_key=24, versions="0", flexible="0+"):
    pass


class AbortTransactionRecord(Message, api_key=25, versions="0", flexible="0+"):
    reason: String | None = field(default=None, tag=0)


class RemoveDelegationTokenRecord(Message, api_key=26, versions="0", flexible="0+"):
    token_id: String


class ControllerEndpoint(Struct):
    name: String
    host: String
    port: Uint16
    security_protocol: Int16


class ControllerFeature(Struct):
    name: String
    min_supported_version: Int16
    max_supported_version: Int16


class RegisterControllerRecord(Message, api_key=27, versions="0", flexible="0+"):
    controller_id: Int32
    incarnation_id: Uuid
    zk_migration_ready: Bool
    end_points: list[ControllerEndpoint]
    features: list[ControllerFeature]
