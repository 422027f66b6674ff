"""Who leads instead: told with the error, to those who understand it (KIP-951)."""

from __future__ import annotations

from odradek.kafka.broker.metadata import KnownBroker
from odradek.kafka.settings.endpoints import Endpoint, SecurityProtocol
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.fetch import FetchResponse
from odradek.kafka.wire.messages.produce import ProduceResponse
from tests.kafka.broker.asking import fetch_of, only, produce_of, told
from tests.kafka.broker.served import TOPIC_ID, Served, state_of, with_broker
from tests.kafka.storage.logs import batch_of


def follow(served: Served, leader: int) -> None:
    """Have another broker lead, one that lives at some address."""
    served.lead()
    state = state_of(0, leader, 7, (1, leader))
    assert served.broker.partitions.follow(state, "t", TOPIC_ID) == ErrorCode.NONE
    endpoint = Endpoint("", "elsewhere", 9092, SecurityProtocol.PLAINTEXT)
    served.broker.metadata.brokers[leader] = KnownBroker(leader, {"": endpoint}, "r")


@with_broker()
async def test_a_produce_that_came_to_the_wrong_broker_is_told_the_right_one(
    served: Served,
) -> None:
    follow(served, 2)
    for version in (9, 10, 11):
        answer = await served.ask(produce_of(batch_of([b"x"])), version, ProduceResponse)
        partition = only(answer)
        assert partition.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        found = partition.current_leader.leader_id, partition.current_leader.leader_epoch
        nodes = [(each.node_id, each.host, each.port) for each in answer.node_endpoints]
        is_told = version >= 10
        assert found == ((2, 7) if is_told else (-1, -1))
        assert nodes == ([(2, "elsewhere", 9092)] if is_told else [])


@with_broker()
async def test_a_fetch_of_who_has_not_heard_of_the_new_leader_is_told_of_it(
    served: Served,
) -> None:
    follow(served, 2)
    for version in (12, 15, 16, 17):
        answer = await served.ask(fetch_of(0, session=(0, 0), epoch=6), version, FetchResponse)
        (partition,) = told(answer)
        assert partition.error_code == ErrorCode.FENCED_LEADER_EPOCH
        found = partition.current_leader.leader_id, partition.current_leader.leader_epoch
        assert found == ((2, 7) if version >= 16 else (-1, -1))
        assert [each.node_id for each in answer.node_endpoints] == ([2] if version >= 16 else [])


@with_broker()
async def test_a_leader_that_nobody_can_reach_is_named_without_an_address(served: Served) -> None:
    follow(served, 2)
    del served.broker.metadata.brokers[2]
    answer = await served.ask(produce_of(batch_of([b"x"])), 11, ProduceResponse)
    assert only(answer).current_leader.leader_id == 2 and not answer.node_endpoints
