"""Replicas of a whole cluster move between directories while leaders die: nobody notices."""

from __future__ import annotations

import asyncio
import os

import pytest

from odradek.kafka.server.node import BrokerNode
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode
from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from tests.kafka.broker.test_replication import are_equal, read_all
from tests.kafka.server.clustered import BROKERS, Producer, SimulatedCluster
from tests.kafka.server.witness import TOPIC

SEEDS = int(os.environ.get("SEEDS", "1"))
SETTINGS = """
log.dirs=/kafka,/more
replica.fetch.max.bytes=1000
log.segment.delete.delay.ms=50
"""
WHERE = TopicPartition(TOPIC, 0)
BATCHES = 120
EXPECTED = (
    ErrorCode.NONE,
    ErrorCode.REPLICA_NOT_AVAILABLE,  # It has just started, and nobody has said who leads.
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
)


class Movers:
    """Have every replica moved to where it is not, again and again."""

    def __init__(self, made: SimulatedCluster) -> None:
        self.arrivals = 0
        self._made = made

    async def run(self, environment: Environment) -> None:
        while True:
            await asyncio.sleep(environment.random.uniform(0, 0.1))
            broker_id = environment.random.choice(BROKERS)
            node = self._made.witness.nodes.get(broker_id)
            process = self._made.host(broker_id).process
            if node is not None and process is not None and self._made.host(broker_id).is_running:
                process.loop.call_soon(self._move, node)

    def _move(self, node: BrokerNode) -> None:
        away = [it for it in node.broker.directories.online if WHERE not in it.logs]
        if len(away) == 1 and "broker" in vars(node):
            work = self._asked(node, away[0].path)
            node.tasks.start("a test's move", work, may_end=True)

    async def _asked(self, node: BrokerNode, path: str) -> None:
        before = self._place(node)
        error = await node.broker.moves.alter(WHERE, path)
        assert error in EXPECTED, error
        await asyncio.sleep(0.2)
        self.arrivals += self._place(node) != before

    def _place(self, node: BrokerNode) -> list[str]:
        return [it.path for it in node.broker.directories.online if WHERE in it.logs]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_replicas_move_while_leaders_die_and_nothing_is_lost(seed: int) -> None:
    with World(seed) as world:
        made = SimulatedCluster(world, SETTINGS)
        made.start()
        producer, movers = Producer(made, BATCHES, {}, pause_s=0.1), Movers(made)
        producing = world.host("producer").start(producer.run)
        world.run_until(lambda: producer.answered > 5, 60)
        world.host("mover").start(movers.run)
        random = world.stream("deaths")
        for life in range(1, 4):
            world.run_until(lambda life=life: producer.answered > life * BATCHES // 4, 120)  # type: ignore[misc]
            world.run_until(lambda: made.leader is not None, 60)
            assert made.leader is not None
            victim = made.host(made.leader if random.random() < 0.7 else random.choice(BROKERS))
            victim.kill()
            world.run_for(random.uniform(0, 3))
            victim.start_again()
        world.run_to_end(producing, 300)
        world.host("mover").kill()
        world.run_until(made.is_whole, 60)
        world.run_until(lambda: are_equal(made), 60)
        assert read_all(made) == producer.sent
        assert movers.arrivals > 3
