"""THE table: which handler answers which request. What is in it is what ApiVersions advertises."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from odradek.kafka.api.add_offsets_to_txn import add_offsets_to_txn
from odradek.kafka.api.add_partitions_to_txn import add_partitions_to_txn
from odradek.kafka.api.allocate_producer_ids import allocate_producer_ids
from odradek.kafka.api.alter_client_quotas import alter_client_quotas
from odradek.kafka.api.alter_configs import alter_configs
from odradek.kafka.api.alter_partition import alter_partition
from odradek.kafka.api.alter_partition_reassignments import alter_partition_reassignments
from odradek.kafka.api.alter_user_scram_credentials import alter_user_scram_credentials
from odradek.kafka.api.api_versions import answer_api_versions
from odradek.kafka.api.controlled_shutdown import controlled_shutdown
from odradek.kafka.api.create_acls import create_acls
from odradek.kafka.api.create_delegation_token import create_delegation_token
from odradek.kafka.api.create_partitions import create_partitions
from odradek.kafka.api.create_topics import create_topics
from odradek.kafka.api.delete_acls import delete_acls
from odradek.kafka.api.delete_groups import delete_groups
from odradek.kafka.api.delete_records import delete_records
from odradek.kafka.api.delete_topics import delete_topics
from odradek.kafka.api.describe_acls import describe_acls
from odradek.kafka.api.describe_client_quotas import describe_client_quotas
from odradek.kafka.api.describe_cluster import describe_cluster
from odradek.kafka.api.describe_configs import describe_configs
from odradek.kafka.api.describe_delegation_token import describe_delegation_token
from odradek.kafka.api.describe_groups import describe_groups
from odradek.kafka.api.describe_log_dirs import describe_log_dirs
from odradek.kafka.api.describe_producers import describe_producers
from odradek.kafka.api.describe_transactions import describe_transactions
from odradek.kafka.api.describe_user_scram_credentials import describe_user_scram_credentials
from odradek.kafka.api.elect_leaders import elect_leaders
from odradek.kafka.api.end_txn import end_txn
from odradek.kafka.api.expire_delegation_token import expire_delegation_token
from odradek.kafka.api.fetch import fetch
from odradek.kafka.api.find_coordinator import find_coordinator
from odradek.kafka.api.heartbeat import heartbeat
from odradek.kafka.api.incremental_alter_configs import incremental_alter_configs
from odradek.kafka.api.init_producer_id import init_producer_id
from odradek.kafka.api.join_group import join_group
from odradek.kafka.api.leader_and_isr import leader_and_isr
from odradek.kafka.api.leave_group import leave_group
from odradek.kafka.api.list_groups import list_groups
from odradek.kafka.api.list_offsets import list_offsets
from odradek.kafka.api.list_partition_reassignments import list_partition_reassignments
from odradek.kafka.api.list_transactions import list_transactions
from odradek.kafka.api.metadata import metadata
from odradek.kafka.api.offset_commit import offset_commit
from odradek.kafka.api.offset_delete import offset_delete
from odradek.kafka.api.offset_fetch import offset_fetch
from odradek.kafka.api.offset_for_leader_epoch import offset_for_leader_epoch
from odradek.kafka.api.produce import produce
from odradek.kafka.api.renew_delegation_token import renew_delegation_token
from odradek.kafka.api.stop_replica import stop_replica
from odradek.kafka.api.sync_group import sync_group
from odradek.kafka.api.txn_offset_commit import txn_offset_commit
from odradek.kafka.api.update_features import update_features
from odradek.kafka.api.update_metadata import update_metadata
from odradek.kafka.api.write_txn_markers import write_txn_markers
from odradek.kafka.broker.broker import Broker
from odradek.kafka.wire.apis import APIS
from odradek.kafka.wire.connection import Origin, Request
from odradek.kafka.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from odradek.kafka.wire.schema import Message

LOCALLY = "here"

Handler = Callable[[Any, Request, Broker], Coroutine[Any, Any, Message | None]]


async def api_versions(
    message: ApiVersionsRequest, request: Request, broker: Broker
) -> ApiVersionsResponse:
    """Say what is in this table."""
    features_epoch = broker.metadata.features_epoch
    return answer_api_versions(message, request.version, HANDLERS, features_epoch)


HANDLERS: dict[int, Handler] = {
    0: produce,
    1: fetch,
    2: list_offsets,
    3: metadata,
    4: leader_and_isr,
    5: stop_replica,
    6: update_metadata,
    7: controlled_shutdown,
    8: offset_commit,
    9: offset_fetch,
    10: find_coordinator,
    11: join_group,
    12: heartbeat,
    13: leave_group,
    14: sync_group,
    15: describe_groups,
    16: list_groups,
    18: api_versions,
    19: create_topics,
    20: delete_topics,
    21: delete_records,
    22: init_producer_id,
    23: offset_for_leader_epoch,
    24: add_partitions_to_txn,
    25: add_offsets_to_txn,
    26: end_txn,
    27: write_txn_markers,
    28: txn_offset_commit,
    29: describe_acls,
    30: create_acls,
    31: delete_acls,
    32: describe_configs,
    33: alter_configs,
    35: describe_log_dirs,
    37: create_partitions,
    38: create_delegation_token,
    39: renew_delegation_token,
    40: expire_delegation_token,
    41: describe_delegation_token,
    42: delete_groups,
    43: elect_leaders,
    44: incremental_alter_configs,
    45: alter_partition_reassignments,
    46: list_partition_reassignments,
    47: offset_delete,
    48: describe_client_quotas,
    49: alter_client_quotas,
    50: describe_user_scram_credentials,
    51: alter_user_scram_credentials,
    56: alter_partition,
    57: update_features,
    60: describe_cluster,
    61: describe_producers,
    65: describe_transactions,
    66: list_transactions,
    67: allocate_producer_ids,
}


async def serve_locally(broker: Broker, message: Message, version: int) -> Message | None:
    """Answer what this broker asks of itself: the same handler, without a socket between."""
    key = type(message).__wire__.api_key
    assert key is not None
    api = APIS[key]
    request = Request(api, version, 0, None, message, Origin(LOCALLY, LOCALLY))
    return await HANDLERS[key](message, request, broker)
