"""Whatever happens to brokers and their network: in the end one controls, and all agree.

Topics come and go while brokers are cut off, paused and killed. After all is healed there is one
controller, with the epoch that ZooKeeper says; what it believes of partitions is what the znodes
say; what every broker was told is the same; every partition has a leader that leads it; and what
was to be deleted is gone. Leader epochs of a partition never fall.
"""

from __future__ import annotations

import os
from random import Random

import pytest

from odradek.kafka.controller.image import Assignment, PartitionState
from odradek.kafka.controller.znodes import new_id, read_state, write_topic
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode
from odradek.simulation.hosts import Host
from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.errors import NodeExists, NoNode
from tests.kafka.broker.members import Cluster, Member

SEEDS = int(os.environ.get("SEEDS", "6"))
BROKERS = (1, 2, 3)
STRIKES = 25
QUIET_S = 60.0
AWAY_S = 20.0


class Trouble:
    """Something that goes wrong every second or so, and is mended later."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._random: Random = cluster.world.stream("trouble")
        self._killed_at: dict[str, float] = {}
        self.left = STRIKES

    def _revive(self, host: Host) -> None:
        """Unless it was killed again: its registration must be gone before it comes back."""
        if self._cluster.world.now_s - self._killed_at[host.name] >= AWAY_S:
            host.start_again()

    def strike(self) -> None:
        world, random = self._cluster.world, self._random
        name, other = f"b{random.choice(BROKERS)}", f"b{random.choice(BROKERS)}"
        host, delay_s = world.host(name), random.uniform(0.1, 12)
        match random.choice(["cut", "reset", "pause", "kill", "part"]):
            case "cut":
                world.network.cut(name, "zookeeper")
                world.after(delay_s, lambda: world.network.heal(name, "zookeeper"))
            case "reset":
                world.network.reset(name, "zookeeper")
            case "part" if name != other:
                world.network.cut(name, other)
                world.after(delay_s, lambda: world.network.heal(name, other))
            case "pause":
                host.pause()
                world.after(delay_s, host.resume)
            case "kill":
                host.kill()
                self._killed_at[name] = world.now_s
                world.after(AWAY_S + delay_s, lambda: self._revive(host))
        self.left -= 1
        if self.left:
            world.after(random.uniform(0.05, 3), self.strike)


def writing(random: Random, made: set[str], deleted: set[str]) -> object:
    """A tool that makes and deletes topics, as Apache's would."""

    async def story(client: ZooKeeperClient) -> None:
        for _ in range(3):
            name = f"t{random.randrange(8)}"
            try:
                if name in made - deleted:
                    await client.create(f"/admin/delete_topics/{name}", None)
                    deleted.add(name)
                elif name not in made:
                    replicas = {
                        index: Assignment(tuple(random.sample(BROKERS, 2))) for index in range(3)
                    }
                    data = write_topic(new_id(random.randbytes), replicas)
                    await client.create(f"/brokers/topics/{name}", data)
                    made.add(name)
            except NodeExists:
                continue

    return story


async def read_states(client: ZooKeeperClient) -> dict[TopicPartition, PartitionState]:
    states = {}
    for topic in await client.get_children("/brokers/topics"):
        path = f"/brokers/topics/{topic}/partitions"
        try:
            indexes = await client.get_children(path)
        except NoNode:
            continue
        for index in indexes:
            try:
                data, stat = await client.get_data(f"{path}/{index}/state")
            except NoNode:
                continue
            states[TopicPartition(topic, int(index))] = read_state(data, stat.version)
    return states


def look_at_states(cluster: Cluster) -> dict[TopicPartition, PartitionState]:
    found = cluster.look(read_states)
    assert isinstance(found, dict)
    return found


def check_epochs(
    before: dict[TopicPartition, PartitionState], after: dict[TopicPartition, PartitionState]
) -> None:
    for where in before.keys() & after.keys():
        assert after[where].leader_epoch >= before[where].leader_epoch, where


def is_settled(cluster: Cluster, topics: set[str]) -> bool:
    members = [cluster.members[it] for it in BROKERS]
    return sum(it.controller.is_active for it in members) == 1 and all(
        set(it.metadata.brokers) == set(BROKERS)
        and set(it.metadata.topics) == topics
        and all(
            state.leader >= 0 for known in it.metadata.topics.values() for state in known.values()
        )
        for it in members
    )


def check_agreement(cluster: Cluster, topics: set[str]) -> None:
    states = look_at_states(cluster)
    reign = cluster.controller.controller.reign
    assert reign is not None
    assert int(cluster.read("/controller_epoch")) == reign.image.epoch
    assert reign.image.states == states
    assert {where.topic for where in states} == topics
    for where, state in states.items():
        for broker_id in BROKERS:
            told = cluster.members[broker_id].metadata.partition(*where)
            assert told is not None
            found = (told.leader, told.leader_epoch, tuple(told.isr), told.zk_version)
            assert found == (state.leader, state.leader_epoch, state.isr, state.version), where
        check_leads(cluster.members[state.leader], where, state)


def check_leads(member: Member, where: TopicPartition, state: PartitionState) -> None:
    partition = member.broker.partitions.leader(*where)
    assert not isinstance(partition, ErrorCode), (where, partition)
    assert partition.leader_epoch == state.leader_epoch


@pytest.mark.parametrize("seed", range(SEEDS))
def test_in_the_end_one_controls_and_all_agree(seed: int) -> None:
    made: set[str] = set()
    deleted: set[str] = set()
    with Cluster(seed) as cluster:
        cluster.start(*BROKERS, zookeeper_connection_timeout_ms=60_000)
        trouble, random = Trouble(cluster), cluster.world.stream("topics")
        cluster.world.after(0.5, trouble.strike)
        states: dict[TopicPartition, PartitionState] = {}
        while trouble.left:
            cluster.look(writing(random, made, deleted))  # type: ignore[arg-type]
            cluster.world.run_for(random.uniform(0.1, 2))
            states, before = look_at_states(cluster), states
            check_epochs(before, states)
        cluster.world.run_for(QUIET_S)
        topics = made - deleted
        cluster.until(lambda: is_settled(cluster, topics), 300)
        cluster.world.run_for(5)
        check_agreement(cluster, topics)
