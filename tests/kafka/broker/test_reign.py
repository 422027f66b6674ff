"""What a controller does as brokers, topics and partitions come and go."""

from __future__ import annotations

import json
from typing import Any

import pytest

from odradek.kafka.broker.topics import add_partitions, create_topic, delete_topic
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode
from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.wire.codes import CreateMode
from tests.kafka.broker.clusters import ask_for_isr, led_by, live, make, state
from tests.kafka.broker.members import Cluster


async def forget(client: ZooKeeperClient) -> list[str]:
    return sorted(await client.get_children("/brokers/topics"))


def test_a_topic_with_many_replicas_is_led_by_the_first_and_held_by_all() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2, 3)
        make(cluster, {0: [2, 3, 1], 1: [3, 1, 2]})
        assert state(cluster)["leader"] == 2
        assert state(cluster)["isr"] == [2, 3, 1]
        assert led_by(cluster, 3, TopicPartition("t", 1))
        for member in cluster.members.values():
            cluster.until(lambda m=member: m.broker.partitions.get("t", 1) is not None)  # type: ignore[misc]
        partition = cluster.members[2].broker.partitions.leader("t", 0)
        assert not isinstance(partition, ErrorCode)


def test_partitions_that_are_added_come_online() -> None:
    with Cluster() as cluster:
        cluster.start(1)
        make(cluster, {0: [1]})
        keeper = cluster.members[1].keeper
        assert cluster.do(1, lambda: add_partitions(keeper, "t", {1: [1], 2: [1]})) == 0
        cluster.until(lambda: len(cluster.members[1].metadata.topics["t"]) == 3)
        value = json.loads(cluster.read("/brokers/topics/t"))
        assert value["partitions"] == {"0": [1], "1": [1], "2": [1]}
        assert cluster.do(1, lambda: add_partitions(keeper, "u", {1: [1]})) == 3


def test_a_topic_is_not_made_twice() -> None:
    with Cluster() as cluster:
        cluster.start(1)
        make(cluster, {0: [1]}, retention_ms="5")
        keeper = cluster.members[1].keeper
        refused = cluster.do(1, lambda: create_topic(keeper, "t", {0: [1]}, {"retention.ms": "6"}))
        assert refused is ErrorCode.TOPIC_ALREADY_EXISTS
        assert b'"retention.ms":"5"' in cluster.read("/config/topics/t")


def test_a_topic_that_is_deleted_leaves_nothing_and_can_be_made_again() -> None:
    async def left(client: ZooKeeperClient) -> list[object]:
        return [
            await client.get_children("/brokers/topics"),
            await client.get_children("/config/topics"),
            await client.get_children("/admin/delete_topics"),
        ]

    with Cluster() as cluster:
        cluster.start(1, 2)
        first_id = make(cluster, {0: [1, 2], 1: [2]}, retention_ms="5")
        keeper = cluster.members[1].keeper
        cluster.do(1, lambda: delete_topic(keeper, "t"))
        cluster.until(lambda: not any("t" in it.metadata.topics for it in live(cluster)))
        image = cluster.controller.controller.reign
        assert image is not None
        cluster.until(lambda: "t" not in image.image.topics)
        assert cluster.look(left) == [[], [], []]
        assert all(it.broker.partitions.get("t", 0) is None for it in live(cluster))
        assert make(cluster, {0: [2]}) != first_id
        assert cluster.members[2].configs.topic_settings("t").retention_ms > 5


def test_a_topic_with_a_dead_replica_is_deleted_when_it_is_back() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2)
        make(cluster, {0: [1, 2]})
        other = 3 - cluster.controller.id
        cluster.world.host(f"b{other}").kill()
        cluster.until(lambda: set(cluster.controller.metadata.brokers) == {3 - other})
        cluster.do(3 - other, lambda: delete_topic(cluster.controller.keeper, "t"))
        cluster.until(lambda: "t" not in cluster.controller.metadata.topics)
        cluster.world.run_for(30)
        assert cluster.look(forget) == ["t"]
        cluster.restart(other)
        cluster.until(lambda: cluster.look(forget) == [])


def test_topics_that_do_not_exist_are_not_asked_for_for_long() -> None:
    async def pending(client: ZooKeeperClient) -> list[str]:
        return await client.get_children("/admin/delete_topics")

    with Cluster() as cluster:
        cluster.start(1)
        cluster.do(1, lambda: delete_topic(cluster.members[1].keeper, "nothing"))
        cluster.until(lambda: cluster.look(pending) == [])


def test_where_deletion_is_off_a_topic_stays() -> None:
    async def pending(client: ZooKeeperClient) -> list[str]:
        return await client.get_children("/admin/delete_topics")

    with Cluster() as cluster:
        cluster.start(1, delete_topic_enable="false")
        make(cluster, {0: [1]})
        cluster.do(1, lambda: delete_topic(cluster.members[1].keeper, "t"))
        cluster.until(lambda: cluster.look(pending) == [])
        assert led_by(cluster, 1)


def test_when_a_leader_dies_the_next_in_sync_leads() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2, 3)
        dead = next(it for it in (1, 2, 3) if it != cluster.controller.id)
        others = [it for it in (1, 2, 3) if it != dead]
        make(cluster, {0: [dead, *others], 1: [others[0], dead]})
        cluster.world.host(f"b{dead}").kill()
        cluster.until(lambda: led_by(cluster, others[0]))
        cluster.until(lambda: state(cluster, TopicPartition("t", 1))["isr"] == [others[0]])
        now = state(cluster)
        assert (now["leader"], now["leader_epoch"], now["isr"]) == (others[0], 1, others)
        told = cluster.controller.metadata.partition("t", 1)
        assert told is not None and told.offline_replicas == [dead]


def test_the_last_in_sync_is_waited_for() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2)
        dead = 3 - cluster.controller.id
        make(cluster, {0: [dead]})
        cluster.world.host(f"b{dead}").kill()
        cluster.until(lambda: led_by(cluster, -1))
        assert (state(cluster)["leader"], state(cluster)["isr"]) == (-1, [dead])
        cluster.restart(dead)
        cluster.until(lambda: led_by(cluster, dead))
        assert state(cluster)["leader_epoch"] == 2


def test_a_topic_that_allows_it_is_led_by_who_is_left() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2)
        dead, alive = 3 - cluster.controller.id, cluster.controller.id
        make(cluster, {0: [dead, alive]}, unclean_leader_election_enable="true")
        answer = ask_for_isr(cluster, dead, [dead])
        assert answer.topics[0].partitions[0].error_code == 0
        cluster.world.host(f"b{dead}").kill()
        cluster.until(lambda: led_by(cluster, alive))
        now = state(cluster)
        assert (now["isr"], now["leader_recovery_state"]) == ([alive], 1)


@pytest.mark.parametrize("entity_path", ["topics/t", "brokers/<default>"])
def test_a_topic_without_a_leader_gets_one_when_loss_is_allowed(entity_path: str) -> None:
    with Cluster() as cluster:
        cluster.start(1, 2)
        dead, alive = 3 - cluster.controller.id, cluster.controller.id
        make(cluster, {0: [dead, alive]})
        ask_for_isr(cluster, dead, [dead])
        cluster.world.host(f"b{dead}").kill()
        cluster.until(lambda: led_by(cluster, -1))
        texts = {"unclean.leader.election.enable": "true"}
        cluster.do(alive, lambda: cluster.members[alive].configs.write(entity_path, texts))
        cluster.until(lambda: led_by(cluster, alive))


def test_a_leader_gets_the_isr_it_asks_for() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2)
        leader = 3 - cluster.controller.id
        make(cluster, {0: [leader, 3 - leader]})
        partition = ask_for_isr(cluster, leader, [leader]).topics[0].partitions[0]
        assert (partition.error_code, partition.isr, partition.partition_epoch) == (0, [leader], 1)
        assert (state(cluster)["isr"], state(cluster)["leader_epoch"]) == ([leader], 0)
        known = cluster.members[leader].metadata
        cluster.until(lambda: known.topics["t"][0].isr == [leader])
        assert known.topics["t"][0].zk_version == 1


def test_a_leader_is_refused_what_it_may_not_have() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2)
        leader = 3 - cluster.controller.id
        make(cluster, {0: [leader, 3 - leader]})

        def code(isr: list[int], **other: Any) -> int:
            return ask_for_isr(cluster, leader, isr, **other).topics[0].partitions[0].error_code

        assert code([leader], leader_epoch=5) == ErrorCode.NOT_CONTROLLER
        assert code([leader], partition_epoch=5) == ErrorCode.NOT_CONTROLLER
        assert code([leader], leader_epoch=-1) == ErrorCode.FENCED_LEADER_EPOCH
        assert code([leader], partition_epoch=-1) == ErrorCode.INVALID_UPDATE_VERSION
        assert code([leader, 9]) == ErrorCode.INELIGIBLE_REPLICA
        assert code([leader], topic_id=bytes(15) + b"x") == ErrorCode.UNKNOWN_TOPIC_ID
        assert code([leader, 3 - leader], partition_epoch=-1) == ErrorCode.NONE
        stale = ask_for_isr(cluster, leader, [leader], broker_epoch=1)
        assert stale.error_code == ErrorCode.STALE_BROKER_EPOCH


def test_states_that_an_old_leader_wrote_by_itself_are_read_again() -> None:
    async def write(client: ZooKeeperClient) -> None:
        path = "/brokers/topics/t/partitions/0/state"
        value = json.loads((await client.get_data(path))[0])
        value["isr"] = value["isr"][:1]
        await client.set_data(path, json.dumps(value).encode())
        told = b'{"version":1,"partitions":[{"topic":"t","partition":0}]}'
        mode = CreateMode.PERSISTENT_SEQUENTIAL
        await client.create("/isr_change_notification/isr_change_", told, mode=mode)

    async def left(client: ZooKeeperClient) -> list[str]:
        return await client.get_children("/isr_change_notification")

    with Cluster() as cluster:
        cluster.start(1, 2)
        make(cluster, {0: [1, 2]})
        cluster.look(write)
        cluster.until(lambda: all(it.metadata.topics["t"][0].isr == [1] for it in live(cluster)))
        cluster.until(lambda: cluster.look(left) == [])


def test_a_broker_that_lost_a_disk_leads_nothing_of_it() -> None:
    async def told(client: ZooKeeperClient) -> None:
        event = json.dumps({"version": 1, "broker": 2, "event": 1}).encode()
        mode = CreateMode.PERSISTENT_SEQUENTIAL
        await client.create("/log_dir_event_notification/log_dir_event_", event, mode=mode)

    with Cluster() as cluster:
        cluster.start(1, 2)
        make(cluster, {0: [2, 1]})
        member = cluster.members[2]
        cluster.until(lambda: member.broker.partitions.get("t", 0) is not None)
        (directory,) = member.directories.online

        async def fail() -> None:
            member.broker.partitions.fail_directory(directory, OSError("no such device"))

        cluster.do(2, fail)
        cluster.look(told)
        cluster.until(lambda: led_by(cluster, 1))
        assert state(cluster)["isr"] == [1]


def test_a_state_that_changed_meanwhile_is_decided_again() -> None:
    async def write(client: ZooKeeperClient) -> None:
        """Behind the controller's back, and without a word to it."""
        path = "/brokers/topics/t/partitions/0/state"
        value = json.loads((await client.get_data(path))[0])
        value["isr"] = [survivor]
        await client.set_data(path, json.dumps(value).encode())

    with Cluster() as cluster:
        cluster.start(1, 2, 3)
        dead = next(it for it in (1, 2, 3) if it != cluster.controller.id)
        others = [it for it in (1, 2, 3) if it != dead]
        survivor = others[1]
        make(cluster, {0: [dead, *others]})
        cluster.look(write)
        cluster.world.host(f"b{dead}").kill()
        cluster.until(lambda: led_by(cluster, survivor))
        assert state(cluster)["isr"] == [survivor]


def test_a_new_controller_sets_right_what_happened_without_one() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2, 3)
        first = cluster.controller.id
        second, third = [it for it in (1, 2, 3) if it != first]
        make(cluster, {0: [first, second, third]})
        cluster.world.host(f"b{first}").kill()
        cluster.until(lambda: led_by(cluster, second))
        now = state(cluster)
        assert (now["controller_epoch"], now["isr"]) == (2, [second, third])
