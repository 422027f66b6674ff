"""THE table: which handler answers which request. What is in it is what ApiVersions advertises.

A handler is named like its module in `kafka/api`, which is imported when it is first asked for: a
broker is to serve before anyone notices that it was started. What nobody has asked for by then is
imported soon after.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from importlib import import_module
from typing import Any

from odradek.kafka.api.api_versions import answer_api_versions
from odradek.kafka.broker.broker import Broker
from odradek.kafka.storage.appending import Appended
from odradek.kafka.wire.apis import API_VERSIONS, APIS, PRODUCE
from odradek.kafka.wire.connection import Origin, Request
from odradek.kafka.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from odradek.kafka.wire.repeats import Repeat
from odradek.kafka.wire.schema import Message

LOCALLY = "here"

Handler = Callable[[Any, Request, Broker], Coroutine[Any, Any, Message | None]]
Again = Callable[[Repeat, Broker], Appended | None]

NAMES = {
    0: "produce",
    1: "fetch",
    2: "list_offsets",
    3: "metadata",
    4: "leader_and_isr",
    5: "stop_replica",
    6: "update_metadata",
    7: "controlled_shutdown",
    8: "offset_commit",
    9: "offset_fetch",
    10: "find_coordinator",
    11: "join_group",
    12: "heartbeat",
    13: "leave_group",
    14: "sync_group",
    15: "describe_groups",
    16: "list_groups",
    19: "create_topics",
    20: "delete_topics",
    21: "delete_records",
    22: "init_producer_id",
    23: "offset_for_leader_epoch",
    24: "add_partitions_to_txn",
    25: "add_offsets_to_txn",
    26: "end_txn",
    27: "write_txn_markers",
    28: "txn_offset_commit",
    29: "describe_acls",
    30: "create_acls",
    31: "delete_acls",
    32: "describe_configs",
    33: "alter_configs",
    34: "alter_replica_log_dirs",
    35: "describe_log_dirs",
    37: "create_partitions",
    38: "create_delegation_token",
    39: "renew_delegation_token",
    40: "expire_delegation_token",
    41: "describe_delegation_token",
    42: "delete_groups",
    43: "elect_leaders",
    44: "incremental_alter_configs",
    45: "alter_partition_reassignments",
    46: "list_partition_reassignments",
    47: "offset_delete",
    48: "describe_client_quotas",
    49: "alter_client_quotas",
    50: "describe_user_scram_credentials",
    51: "alter_user_scram_credentials",
    56: "alter_partition",
    57: "update_features",
    60: "describe_cluster",
    61: "describe_producers",
    65: "describe_transactions",
    66: "list_transactions",
    67: "allocate_producer_ids",
}


async def api_versions(
    message: ApiVersionsRequest, request: Request, broker: Broker
) -> ApiVersionsResponse:
    """Say what is in this table."""
    features_epoch = broker.metadata.features_epoch
    return answer_api_versions(message, request.version, HANDLERS, features_epoch)


def imported(key: int) -> Handler:
    """The handler itself, from now on in the table."""
    name = NAMES[key]
    handler: Handler = getattr(import_module(f"odradek.kafka.api.{name}"), name)
    HANDLERS[key] = handler
    return handler


def import_all() -> None:
    for key in NAMES:
        imported(key)


def at_first(key: int) -> Handler:
    """What stands in for a handler until it is asked for."""
    return lambda message, request, broker: imported(key)(message, request, broker)


HANDLERS: dict[int, Handler] = {key: at_first(key) for key in NAMES} | {API_VERSIONS: api_versions}


def again_at_first(repeat: Repeat, broker: Broker) -> Appended | None:
    """What stands in for `produce_again` until somebody repeats himself."""
    again: Again = import_module("odradek.kafka.api.produce_again").produce_again
    AGAIN[PRODUCE] = again
    return again(repeat, broker)


AGAIN: dict[int, Again] = {PRODUCE: again_at_first}  # Of what clients ask just as before.


async def serve_locally(broker: Broker, message: Message, version: int) -> Message | None:
    """Answer what this broker asks of itself: the same handler, without a socket between."""
    key = type(message).__wire__.api_key
    assert key is not None
    api = APIS[key]
    request = Request(api, version, 0, None, message, Origin(LOCALLY, LOCALLY))
    return await HANDLERS[key](message, request, broker)
