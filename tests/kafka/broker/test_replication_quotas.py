"""Limits of replication in a world of whole brokers: followers catch up as slowly as they say."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import pytest

from odradek.kafka.broker.configs import OF_ALL_BROKERS
from odradek.kafka.server.node import BrokerNode
from odradek.kafka.wire.errors import ErrorCode
from tests.kafka.broker.test_replication import are_equal, cluster, produce, put
from tests.kafka.server.clustered import BROKERS, SimulatedCluster
from tests.kafka.server.witness import TOPIC

RATE = 20_000
LEADER, FOLLOWER = "leader.replication.throttled", "follower.replication.throttled"


def say(made: SimulatedCluster, entity: str, texts: Mapping[str, str]) -> None:
    """Have this be all that is said of an entity, and known to all brokers."""

    def writing(texts: Mapping[str, str]) -> Callable[[BrokerNode], Awaitable[object]]:
        return lambda node: node.broker.configs.write(entity, texts)

    made.do(1, writing(texts))
    made.world.run_for(0.5)


def fall_behind(made: SimulatedCluster, count: int) -> int:
    """Have a follower miss so many kilobytes; who."""
    produce(made, 3)
    made.world.run_until(made.is_whole, 30)
    late = next(it for it in BROKERS if it != made.leader)
    made.host(late).kill()
    made.world.run_until(lambda: late not in made.isr, 20)
    for _ in range(count):
        assert put(made, b"x" * 1000) is ErrorCode.NONE
    return late


def seconds_to_catch_up(made: SimulatedCluster, late: int) -> float:
    begun_s = made.world.now_s
    made.host(late).start_again()
    made.world.run_until(lambda: are_equal(made), 120)
    return made.world.now_s - begun_s


@pytest.mark.parametrize("side", [LEADER, FOLLOWER])
def test_a_follower_that_is_out_of_sync_catches_up_no_faster_than_it_may(side: str) -> None:
    with cluster("replica.fetch.max.bytes=2000\n") as made:
        late = fall_behind(made, 100)
        say(made, OF_ALL_BROKERS, {f"{side}.rate": str(RATE)})
        say(made, f"topics/{TOPIC}", {f"{side}.replicas": "*"})
        assert seconds_to_catch_up(made, late) >= 100_000 / RATE - 1.5
        assert 0 < rate_now(made, side, late) <= 1.2 * RATE
        made.world.run_until(made.is_whole, 10)


def test_replicas_that_are_not_named_and_limits_that_were_lifted_hold_nobody_back() -> None:
    with cluster("replica.fetch.max.bytes=2000\n") as made:
        late = fall_behind(made, 100)
        other = next(it for it in BROKERS if it not in (late, made.leader))
        say(made, OF_ALL_BROKERS, {f"{FOLLOWER}.rate": "1"})
        say(made, f"topics/{TOPIC}", {f"{FOLLOWER}.replicas": f"0:{other}"})
        assert seconds_to_catch_up(made, late) < 3
        made.world.run_until(made.is_whole, 10)
        made.host(late).kill()
        made.world.run_until(lambda: late not in made.isr, 20)
        say(made, f"topics/{TOPIC}", {f"{FOLLOWER}.replicas": f"0:{late}"})
        for _ in range(10):
            assert put(made, b"x" * 1000) is ErrorCode.NONE
        made.host(late).start_again()
        made.world.run_for(20)
        assert not are_equal(made)
        say(made, f"topics/{TOPIC}", {})
        made.world.run_until(lambda: are_equal(made), 10)


def test_a_replica_that_is_in_sync_is_never_held_back() -> None:
    with cluster() as made:
        produce(made, 3)
        made.world.run_until(made.is_whole, 30)
        say(made, OF_ALL_BROKERS, {f"{LEADER}.rate": "1", f"{FOLLOWER}.rate": "1"})
        say(made, f"topics/{TOPIC}", {f"{LEADER}.replicas": "*", f"{FOLLOWER}.replicas": "*"})
        for _ in range(10):
            assert put(made, b"x" * 1000) is ErrorCode.NONE
        assert made.is_whole()


def rate_now(made: SimulatedCluster, side: str, late: int) -> float:
    """What is limited at the broker that limits."""
    broker_id = made.leader if side == LEADER else late
    assert broker_id is not None
    process = made.host(broker_id).process
    assert process is not None
    quotas = made.witness.nodes[broker_id].broker.replication_quotas
    quota = quotas.leader if side == LEADER else quotas.follower
    return quota.rate(process.loop.time() * 1000)
