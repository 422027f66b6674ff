"""A simulated cluster's life in trouble, under a producer that repeats what was not answered."""

from __future__ import annotations

from random import Random

from odradek.simulation.hosts import Host
from odradek.simulation.world import World
from tests.kafka.server.clustered import BROKERS, Producer, Reader, SimulatedCluster

BATCHES = 80
STRIKES = 12
PAUSE_S = 0.4  # Between batches, at most: trouble is to come in the midst of them.


class Trouble:
    """Something that goes wrong every second or so, and is mended later."""

    def __init__(self, cluster: SimulatedCluster, *, power: bool) -> None:
        self.left = STRIKES
        self._world = cluster.world
        self._cluster = cluster
        self._random: Random = cluster.world.stream("trouble")
        self._power = power

    def strike(self) -> None:
        world, random = self._world, self._random
        broker_id = self._cluster.leader if random.random() < 0.5 else None
        name, other = f"b{broker_id or random.choice(BROKERS)}", f"b{random.choice(BROKERS)}"
        host, delay_s = world.host(name), random.uniform(0.05, 4)
        match random.choice(["cut", "part", "pause", "crash", "crash"]):
            case "cut":
                world.network.cut(name, "zookeeper")
                world.after(delay_s, lambda: world.network.heal(name, "zookeeper"))
            case "part" if name != other:
                world.network.cut(name, other)
                world.after(delay_s, lambda: world.network.heal(name, other))
            case "pause":
                host.pause()
                world.after(delay_s, host.resume)
            case "crash":
                self._crash(host)
                world.after(delay_s, host.start_again)
        self.left -= 1
        if self.left:
            world.after(random.uniform(0.05, 3), self.strike)

    def _crash(self, host: Host) -> None:
        if self._power and self._random.random() < 0.7:
            host.power_off()
        else:
            host.kill()


def live(seed: int, *, power: bool = False, settings: str = "", **configs: object) -> None:
    """A cluster's life in trouble, and what is left in the end."""
    with World(seed) as world:
        cluster = SimulatedCluster(world, settings)
        wanted = {"min_insync_replicas": 2, **configs}
        producer = Producer(cluster, BATCHES, wanted, PAUSE_S)
        reader, judge = Reader(cluster), Reader(cluster)
        cluster.start()
        producing = world.host("producer").start(producer.run)
        world.host("reader").start(reader.run)
        world.run_until(lambda: producer.answered > 0, 120)
        trouble = Trouble(cluster, power=power)
        world.after(0.1, trouble.strike)
        world.run_until(lambda: not trouble.left, 300)
        world.run_to_end(producing, 300)
        world.run_until(cluster.is_whole, 120)
        found = world.run_to_end(world.host("judge").start(judge.read_all), 120)
        assert list(found.values()) == producer.sent
        assert {offset: found[offset] for offset in producer.acked} == producer.acked
        assert {offset: found[offset] for offset in reader.seen} == reader.seen
        assert cluster.witness.looks > 100
