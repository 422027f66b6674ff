"""Producer ids: no broker gives one out that another did, whoever is the controller."""

from __future__ import annotations

import asyncio
import json

from odradek.kafka.server.dispatch import serve_locally
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from odradek.kafka.wire.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from odradek.zookeeper.client.aio import ZooKeeperClient
from tests.kafka.broker.members import Cluster


def init(cluster: Cluster, broker_id: int) -> tuple[int, int]:
    """The error and the id that a producer gets."""
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
    broker = cluster.members[broker_id].broker
    answer = cluster.do(broker_id, lambda: serve_locally(broker, request, 4))
    assert isinstance(answer, InitProducerIdResponse)
    return answer.error_code, answer.producer_id


def has_ids(cluster: Cluster, broker_id: int) -> bool:
    return init(cluster, broker_id)[0] == ErrorCode.NONE


def allocate(cluster: Cluster, broker_id: int, epoch: int) -> AllocateProducerIdsResponse:
    request = AllocateProducerIdsRequest(broker_id=broker_id, broker_epoch=epoch)
    broker = cluster.controller.broker
    answer = cluster.do(cluster.controller.id, lambda: serve_locally(broker, request, 0))
    assert isinstance(answer, AllocateProducerIdsResponse)
    return answer


def test_a_producer_waits_a_little_for_the_first_block() -> None:
    with Cluster() as cluster:
        cluster.start(1)
        assert init(cluster, 1) == (ErrorCode.NONE, 0)
        value = json.loads(cluster.read("/latest_producer_id_block"))
        assert value == {"version": 1, "broker": 1, "block_start": "0", "block_end": "999"}


def test_a_producer_is_told_to_try_again_if_no_block_comes() -> None:
    with Cluster() as cluster:
        cluster.start(1)
        cluster.world.network.cut("b1", "zookeeper")
        assert init(cluster, 1) == (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, -1)
        cluster.world.network.heal_all()
        cluster.until(lambda: has_ids(cluster, 1))


def test_brokers_have_blocks_of_their_own() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2)
        cluster.until(lambda: has_ids(cluster, 1) and has_ids(cluster, 2))
        blocks = {init(cluster, it)[1] // 1000 for it in (1, 2)}
        assert blocks == {0, 1}


def test_the_next_block_comes_before_the_last_is_used_up() -> None:
    with Cluster() as cluster:
        cluster.start(1)
        cluster.until(lambda: has_ids(cluster, 1))
        taken = []
        ids = cluster.members[1].broker.producer_ids

        async def take() -> None:
            for _ in range(2500):
                taken.append(ids.take())
                await asyncio.sleep(0.001)

        cluster.do(1, take)
        assert taken == list(range(1, 2501))


def test_only_brokers_that_are_registered_get_a_block() -> None:
    with Cluster() as cluster:
        cluster.start(1)
        epoch = cluster.members[1].keeper.epoch
        assert allocate(cluster, 9, epoch).error_code == ErrorCode.BROKER_ID_NOT_REGISTERED
        assert allocate(cluster, 1, epoch - 1).error_code == ErrorCode.STALE_BROKER_EPOCH
        fine = allocate(cluster, 1, epoch)
        assert (fine.error_code, fine.producer_id_start, fine.producer_id_len) == (0, 0, 1000)


def test_a_block_that_cannot_be_read_is_not_guessed() -> None:
    async def spoil(client: ZooKeeperClient) -> None:
        await client.set_data("/latest_producer_id_block", b"no JSON")

    with Cluster() as cluster:
        cluster.start(1)
        cluster.look(spoil)
        answer = allocate(cluster, 1, cluster.members[1].keeper.epoch)
        assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
        assert cluster.read("/latest_producer_id_block") == b"no JSON"
