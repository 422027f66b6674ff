"""FindCoordinator: topics of the coordinators are made on demand, and their leaders are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from odradek.kafka.admin.names import CONSUMER_OFFSETS, TRANSACTION_STATE
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from tests.kafka.api.administered import CLIENTS, OTHERS, Administered, administered

GROUP, TRANSACTION, SHARE = range(3)
SMALL: dict[str, Any] = {
    "offsets_topic_replication_factor": 1,
    "offsets_topic_num_partitions": 7,
    "offsets_topic_segment_bytes": 12_345,
    "transaction_state_log_replication_factor": 1,
    "transaction_state_log_num_partitions": 3,
    "transaction_state_log_min_isr": 1,
}


async def find(
    broker: Administered,
    version: int,
    *keys: str,
    key_type: int = GROUP,
    listener: str = CLIENTS,
) -> list[tuple[int, str, int, int]]:
    """Node, host, port and error code for each key."""
    if version < 4:
        message = FindCoordinatorRequest(key=keys[0], key_type=key_type)
        it = await broker.ask(message, version, FindCoordinatorResponse, listener)
        return [(it.node_id, it.host, it.port, it.error_code)]
    message = FindCoordinatorRequest(key_type=key_type, coordinator_keys=list(keys))
    response = await broker.ask(message, version, FindCoordinatorResponse, listener)
    assert [each.key for each in response.coordinators] == list(keys)
    return [(each.node_id, each.host, each.port, each.error_code) for each in response.coordinators]


@administered(**SMALL)
async def test_every_version_finds_the_broker_on_the_clients_listener(
    broker: Administered,
) -> None:
    for version in range(7):
        here = (1, "127.0.0.1", broker.port(CLIENTS), 0)
        assert await find(broker, version, "g") == [here]
    there = (1, "127.0.0.1", broker.port(OTHERS), 0)
    assert await find(broker, 4, "a", "b", listener=OTHERS) == [there, there]


@administered(**SMALL)
async def test_the_topics_are_made_as_the_settings_say(broker: Administered) -> None:
    await find(broker, 3, "g")
    await find(broker, 3, "x", key_type=TRANSACTION)
    metadata = broker.broker.metadata
    assert len(metadata.topics[CONSUMER_OFFSETS]) == 7
    assert len(metadata.topics[TRANSACTION_STATE]) == 3
    offsets = broker.broker.topic_settings(CONSUMER_OFFSETS)
    assert offsets.is_compacted and not offsets.is_deleted
    assert offsets.segment_bytes == 12_345
    state = broker.broker.topic_settings(TRANSACTION_STATE)
    assert state.is_compacted and not state.is_deleted
    assert state.min_insync_replicas == 1


@administered()
async def test_without_enough_brokers_there_is_no_coordinator(broker: Administered) -> None:
    nobody = (-1, "", -1, ErrorCode.COORDINATOR_NOT_AVAILABLE)
    assert await find(broker, 3, "g") == [nobody]
    assert await find(broker, 4, "g") == [nobody]
    assert CONSUMER_OFFSETS not in broker.broker.metadata.topics


@pytest.mark.parametrize("version", [1, 5])
def test_an_unknown_kind_of_key_is_refused(version: int, tmp_path: Path) -> None:
    @administered(**SMALL)
    async def story(broker: Administered) -> None:
        ((*_, code),) = await find(broker, version, "g", key_type=SHARE)
        assert code == ErrorCode.INVALID_REQUEST
        ((*_, code),) = await find(broker, 6, "g", key_type=SHARE)
        assert code == ErrorCode.COORDINATOR_NOT_AVAILABLE

    story(tmp_path)
