"""The table of all APIs: open this first.

A 3.9 broker in ZooKeeper mode advertises each with all versions that its messages have, but for
the four that only KRaft brokers serve; clients may ask for those, so we can read them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from odradek.kafka.wire.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from odradek.kafka.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
)
from odradek.kafka.wire.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from odradek.kafka.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
)
from odradek.kafka.wire.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from odradek.kafka.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
)
from odradek.kafka.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from odradek.kafka.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
)
from odradek.kafka.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
)
from odradek.kafka.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from odradek.kafka.wire.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from odradek.kafka.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from odradek.kafka.wire.messages.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
)
from odradek.kafka.wire.messages.create_acls import CreateAclsRequest, CreateAclsResponse
from odradek.kafka.wire.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from odradek.kafka.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
)
from odradek.kafka.wire.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse
from odradek.kafka.wire.messages.delete_acls import DeleteAclsRequest, DeleteAclsResponse
from odradek.kafka.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from odradek.kafka.wire.messages.delete_records import DeleteRecordsRequest, DeleteRecordsResponse
from odradek.kafka.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from odradek.kafka.wire.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from odradek.kafka.wire.messages.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)
from odradek.kafka.wire.messages.describe_cluster import (
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from odradek.kafka.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
)
from odradek.kafka.wire.messages.describe_delegation_token import (
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from odradek.kafka.wire.messages.describe_groups import (
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from odradek.kafka.wire.messages.describe_log_dirs import (
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from odradek.kafka.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
)
from odradek.kafka.wire.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
)
from odradek.kafka.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)
from odradek.kafka.wire.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
)
from odradek.kafka.wire.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse
from odradek.kafka.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from odradek.kafka.wire.messages.envelope import EnvelopeRequest, EnvelopeResponse
from odradek.kafka.wire.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from odradek.kafka.wire.messages.fetch import FetchRequest, FetchResponse
from odradek.kafka.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from odradek.kafka.wire.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from odradek.kafka.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from odradek.kafka.wire.messages.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from odradek.kafka.wire.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from odradek.kafka.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from odradek.kafka.wire.messages.leader_and_isr import LeaderAndIsrRequest, LeaderAndIsrResponse
from odradek.kafka.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from odradek.kafka.wire.messages.list_client_metrics_resources import (
    ListClientMetricsResourcesRequest,
    ListClientMetricsResourcesResponse,
)
from odradek.kafka.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from odradek.kafka.wire.messages.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from odradek.kafka.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from odradek.kafka.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from odradek.kafka.wire.messages.metadata import MetadataRequest, MetadataResponse
from odradek.kafka.wire.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from odradek.kafka.wire.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from odradek.kafka.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from odradek.kafka.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)
from odradek.kafka.wire.messages.produce import ProduceRequest, ProduceResponse
from odradek.kafka.wire.messages.push_telemetry import PushTelemetryRequest, PushTelemetryResponse
from odradek.kafka.wire.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from odradek.kafka.wire.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from odradek.kafka.wire.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from odradek.kafka.wire.messages.stop_replica import StopReplicaRequest, StopReplicaResponse
from odradek.kafka.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from odradek.kafka.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
)
from odradek.kafka.wire.messages.update_features import (
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from odradek.kafka.wire.messages.update_metadata import (
    UpdateMetadataRequest,
    UpdateMetadataResponse,
)
from odradek.kafka.wire.messages.write_txn_markers import (
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from odradek.kafka.wire.schema import Message, Versions


@dataclass(slots=True, frozen=True)
class Api:
    """One kind of request and its response."""

    name: str
    request: type[Message]
    response: type[Message]
    is_cluster_action: bool = False  # For brokers alone: needs ClusterAction on the cluster.
    is_forwardable: bool = False  # Another broker may send it on to the controller.
    is_advertised: bool = True
    key: int = field(init=False)
    versions: Versions = field(init=False)

    def __post_init__(self) -> None:
        wire = self.request.__wire__
        assert wire.api_key is not None
        object.__setattr__(self, "key", wire.api_key)
        object.__setattr__(self, "versions", wire.versions)

    def request_header_version(self, version: int) -> int:
        if self.key == CONTROLLED_SHUTDOWN and version == 0:
            return 0  # The one request that is older than client ids.
        return 2 if self.request.__wire__.flexible.covers(version) else 1

    def response_header_version(self, version: int) -> int:
        if self.key == API_VERSIONS:
            return 0  # The client cannot know yet what we speak.
        return 1 if self.response.__wire__.flexible.covers(version) else 0


PRODUCE = 0
CONTROLLED_SHUTDOWN = 7
API_VERSIONS = 18

APIS: dict[int, Api] = {
    api.key: api
    for api in (
        Api("Produce", ProduceRequest, ProduceResponse),
        Api("Fetch", FetchRequest, FetchResponse),
        Api("ListOffsets", ListOffsetsRequest, ListOffsetsResponse),
        Api("Metadata", MetadataRequest, MetadataResponse),
        Api("LeaderAndIsr", LeaderAndIsrRequest, LeaderAndIsrResponse, is_cluster_action=True),
        Api("StopReplica", StopReplicaRequest, StopReplicaResponse, is_cluster_action=True),
        Api(
            "UpdateMetadata", UpdateMetadataRequest, UpdateMetadataResponse, is_cluster_action=True
        ),
        Api(
            "ControlledShutdown",
            ControlledShutdownRequest,
            ControlledShutdownResponse,
            is_cluster_action=True,
        ),
        Api("OffsetCommit", OffsetCommitRequest, OffsetCommitResponse),
        Api("OffsetFetch", OffsetFetchRequest, OffsetFetchResponse),
        Api("FindCoordinator", FindCoordinatorRequest, FindCoordinatorResponse),
        Api("JoinGroup", JoinGroupRequest, JoinGroupResponse),
        Api("Heartbeat", HeartbeatRequest, HeartbeatResponse),
        Api("LeaveGroup", LeaveGroupRequest, LeaveGroupResponse),
        Api("SyncGroup", SyncGroupRequest, SyncGroupResponse),
        Api("DescribeGroups", DescribeGroupsRequest, DescribeGroupsResponse),
        Api("ListGroups", ListGroupsRequest, ListGroupsResponse),
        Api("SaslHandshake", SaslHandshakeRequest, SaslHandshakeResponse),
        Api("ApiVersions", ApiVersionsRequest, ApiVersionsResponse),
        Api("CreateTopics", CreateTopicsRequest, CreateTopicsResponse, is_forwardable=True),
        Api("DeleteTopics", DeleteTopicsRequest, DeleteTopicsResponse, is_forwardable=True),
        Api("DeleteRecords", DeleteRecordsRequest, DeleteRecordsResponse),
        Api("InitProducerId", InitProducerIdRequest, InitProducerIdResponse),
        Api("OffsetForLeaderEpoch", OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse),
        Api("AddPartitionsToTxn", AddPartitionsToTxnRequest, AddPartitionsToTxnResponse),
        Api("AddOffsetsToTxn", AddOffsetsToTxnRequest, AddOffsetsToTxnResponse),
        Api("EndTxn", EndTxnRequest, EndTxnResponse),
        Api(
            "WriteTxnMarkers",
            WriteTxnMarkersRequest,
            WriteTxnMarkersResponse,
            is_cluster_action=True,
        ),
        Api("TxnOffsetCommit", TxnOffsetCommitRequest, TxnOffsetCommitResponse),
        Api("DescribeAcls", DescribeAclsRequest, DescribeAclsResponse),
        Api("CreateAcls", CreateAclsRequest, CreateAclsResponse, is_forwardable=True),
        Api("DeleteAcls", DeleteAclsRequest, DeleteAclsResponse, is_forwardable=True),
        Api("DescribeConfigs", DescribeConfigsRequest, DescribeConfigsResponse),
        Api("AlterConfigs", AlterConfigsRequest, AlterConfigsResponse, is_forwardable=True),
        Api("AlterReplicaLogDirs", AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse),
        Api("DescribeLogDirs", DescribeLogDirsRequest, DescribeLogDirsResponse),
        Api("SaslAuthenticate", SaslAuthenticateRequest, SaslAuthenticateResponse),
        Api(
            "CreatePartitions",
            CreatePartitionsRequest,
            CreatePartitionsResponse,
            is_forwardable=True,
        ),
        Api(
            "CreateDelegationToken",
            CreateDelegationTokenRequest,
            CreateDelegationTokenResponse,
            is_forwardable=True,
        ),
        Api(
            "RenewDelegationToken",
            RenewDelegationTokenRequest,
            RenewDelegationTokenResponse,
            is_forwardable=True,
        ),
        Api(
            "ExpireDelegationToken",
            ExpireDelegationTokenRequest,
            ExpireDelegationTokenResponse,
            is_forwardable=True,
        ),
        Api(
            "DescribeDelegationToken",
            DescribeDelegationTokenRequest,
            DescribeDelegationTokenResponse,
        ),
        Api("DeleteGroups", DeleteGroupsRequest, DeleteGroupsResponse),
        Api("ElectLeaders", ElectLeadersRequest, ElectLeadersResponse, is_forwardable=True),
        Api(
            "IncrementalAlterConfigs",
            IncrementalAlterConfigsRequest,
            IncrementalAlterConfigsResponse,
            is_forwardable=True,
        ),
        Api(
            "AlterPartitionReassignments",
            AlterPartitionReassignmentsRequest,
            AlterPartitionReassignmentsResponse,
            is_forwardable=True,
        ),
        Api(
            "ListPartitionReassignments",
            ListPartitionReassignmentsRequest,
            ListPartitionReassignmentsResponse,
            is_forwardable=True,
        ),
        Api("OffsetDelete", OffsetDeleteRequest, OffsetDeleteResponse),
        Api("DescribeClientQuotas", DescribeClientQuotasRequest, DescribeClientQuotasResponse),
        Api(
            "AlterClientQuotas",
            AlterClientQuotasRequest,
            AlterClientQuotasResponse,
            is_forwardable=True,
        ),
        Api(
            "DescribeUserScramCredentials",
            DescribeUserScramCredentialsRequest,
            DescribeUserScramCredentialsResponse,
        ),
        Api(
            "AlterUserScramCredentials",
            AlterUserScramCredentialsRequest,
            AlterUserScramCredentialsResponse,
            is_forwardable=True,
        ),
        Api(
            "AlterPartition", AlterPartitionRequest, AlterPartitionResponse, is_cluster_action=True
        ),
        Api(
            "UpdateFeatures",
            UpdateFeaturesRequest,
            UpdateFeaturesResponse,
            is_cluster_action=True,
            is_forwardable=True,
        ),
        Api("Envelope", EnvelopeRequest, EnvelopeResponse, is_cluster_action=True),
        Api("DescribeCluster", DescribeClusterRequest, DescribeClusterResponse),
        Api("DescribeProducers", DescribeProducersRequest, DescribeProducersResponse),
        Api("DescribeTransactions", DescribeTransactionsRequest, DescribeTransactionsResponse),
        Api("ListTransactions", ListTransactionsRequest, ListTransactionsResponse),
        Api(
            "AllocateProducerIds",
            AllocateProducerIdsRequest,
            AllocateProducerIdsResponse,
            is_cluster_action=True,
            is_forwardable=True,
        ),
        Api(
            "ConsumerGroupHeartbeat", ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
        ),
        Api("ConsumerGroupDescribe", ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse),
        Api(
            "GetTelemetrySubscriptions",
            GetTelemetrySubscriptionsRequest,
            GetTelemetrySubscriptionsResponse,
            is_advertised=False,
        ),
        Api("PushTelemetry", PushTelemetryRequest, PushTelemetryResponse, is_advertised=False),
        Api(
            "ListClientMetricsResources",
            ListClientMetricsResourcesRequest,
            ListClientMetricsResourcesResponse,
            is_advertised=False,
        ),
        Api(
            "DescribeTopicPartitions",
            DescribeTopicPartitionsRequest,
            DescribeTopicPartitionsResponse,
            is_advertised=False,
        ),
    )
}
