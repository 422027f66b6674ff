"""A cluster's controller: elected, fenced, and doing its work, in a simulated world."""

from __future__ import annotations

import json

from odradek.kafka.storage.names import TopicPartition
from odradek.zookeeper.client.aio import ZooKeeperClient
from tests.kafka.broker.members import Cluster

TOPIC = b'{"version":1,"partitions":{"0":[1],"1":[1]}}'  # As the oldest tools would write it.


async def make_topic(client: ZooKeeperClient) -> None:
    await client.create("/config/topics/t", b'{"version":1,"config":{"retention.ms":"12345"}}')
    await client.create("/brokers/topics/t", TOPIC)


def test_a_topic_written_by_hand_comes_online() -> None:
    with Cluster() as cluster:
        cluster.start(1)
        cluster.look(make_topic)
        member = cluster.members[1]
        cluster.until(lambda: len(member.metadata.topics.get("t", ())) == 2)
        state = json.loads(cluster.read("/brokers/topics/t/partitions/0/state"))
        assert state == {
            "controller_epoch": 1,
            "leader": 1,
            "version": 1,
            "leader_epoch": 0,
            "isr": [1],
        }
        assert member.broker.partitions.get("t", 1) is not None
        assert member.configs.topic_settings("t").retention_ms == 12345
        assert member.directories.find(TopicPartition("t", 0)) is not None


def test_the_first_to_come_is_elected_and_says_so() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2, 3)
        value = json.loads(cluster.read("/controller"))
        assert value.pop("timestamp").isdecimal()
        elected = cluster.controller.id
        assert value == {"version": 2, "brokerid": elected, "kraftControllerEpoch": -1}
        assert cluster.read("/controller_epoch") == b"1"
        assert {it.metadata.controller_id for it in cluster.members.values()} == {elected}
        assert {it.controller.elected_id for it in cluster.members.values()} == {elected}


def test_the_controller_makes_the_feature_node_and_all_know_its_version() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2)
        cluster.until(lambda: all(m.metadata.features_epoch == 0 for m in cluster.members.values()))
        assert json.loads(cluster.read("/feature")) == {"features": {}, "version": 2, "status": 1}


def test_when_the_controller_dies_another_takes_over_with_a_greater_epoch() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2)
        first = cluster.controller.id
        cluster.world.host(f"b{first}").kill()
        second = cluster.members[3 - first]
        cluster.until(lambda: second.controller.is_active)
        assert second.controller.epoch == 2
        cluster.until(lambda: set(second.metadata.brokers) == {second.id})
        assert second.metadata.controller_id == second.id


def test_whoever_deletes_the_node_has_another_election() -> None:
    async def delete(client: ZooKeeperClient) -> None:
        await client.delete("/controller")

    with Cluster() as cluster:
        cluster.start(1)
        cluster.look(delete)
        cluster.until(lambda: cluster.members[1].controller.epoch == 2)


def test_a_controller_that_was_paused_resigns_and_writes_nothing() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2)
        old = cluster.controller
        new = cluster.members[3 - old.id]
        cluster.world.host(f"b{old.id}").pause()
        cluster.until(lambda: new.controller.is_active)
        cluster.look(make_topic)
        cluster.world.host(f"b{old.id}").resume()
        cluster.until(lambda: not old.controller.is_active)
        cluster.until(lambda: cluster.knows(old.id) and old.metadata.controller_id == new.id)
        assert cluster.read("/controller_epoch") == b"2"


def test_a_write_under_an_epoch_that_has_passed_makes_its_controller_resign() -> None:
    async def raise_epoch(client: ZooKeeperClient) -> None:
        await client.set_data("/controller_epoch", b"7")

    with Cluster() as cluster:
        cluster.start(1)
        controller = cluster.members[1].controller
        cluster.look(raise_epoch)
        assert controller.epoch == 1  # Nobody has told it yet.
        reign = controller.reign
        cluster.look(make_topic)
        cluster.until(lambda: controller.reign is not reign)
        assert reign is not None and reign.office.is_over
        cluster.until(lambda: controller.epoch == 8)
        cluster.until(lambda: "t" in cluster.members[1].metadata.topics)


def test_what_was_deleted_unheard_is_forgotten_under_the_next_controller() -> None:
    async def delete(client: ZooKeeperClient) -> None:
        await client.create("/admin/delete_topics/t", None)

    async def topics(client: ZooKeeperClient) -> list[str]:
        return await client.get_children("/brokers/topics")

    with Cluster() as cluster:
        cluster.start(1, 2)
        first, second = cluster.controller, cluster.members[3 - cluster.controller.id]
        data = TOPIC.replace(b"[1]", b"[%d]" % first.id)
        cluster.do(first.id, lambda: first.keeper.make("/brokers/topics/t", data))
        cluster.until(lambda: "t" in second.metadata.topics)
        cluster.world.network.cut(f"b{first.id}", f"b{second.id}")
        cluster.look(delete)
        cluster.until(lambda: cluster.look(topics) == [])
        assert "t" in second.metadata.topics
        cluster.world.host(f"b{first.id}").kill()
        cluster.until(lambda: second.controller.is_active and "t" not in second.metadata.topics)


def test_an_old_protocol_is_spoken_where_old_brokers_may_come() -> None:
    with Cluster() as cluster:
        cluster.start(1, inter_broker_protocol_version="2.6")
        assert json.loads(cluster.read("/brokers/ids/1"))["version"] == 4
        assert json.loads(cluster.read("/feature")) == {"features": {}, "version": 1, "status": 0}
        cluster.look(make_topic)
        cluster.until(lambda: len(cluster.members[1].metadata.topics.get("t", ())) == 2)
        assert cluster.read("/brokers/topics/t") == TOPIC  # It got no id.
        assert cluster.members[1].metadata.topic_id("t") == bytes(16)


def test_what_nobody_can_have_meant_stops_no_broker() -> None:
    async def spoil(client: ZooKeeperClient) -> None:
        await client.create("/brokers/topics/bad", b"no JSON")
        await client.create("/brokers/ids/9", b"[]")
        await client.create("/admin/reassign_partitions", b"{}")
        await client.create("/admin/preferred_replica_election", b"{}")
        await client.set_data("/controller", b"nobody")

    async def mend(client: ZooKeeperClient) -> None:
        await client.delete("/controller")

    with Cluster() as cluster:
        cluster.start(1)
        cluster.look(spoil)
        cluster.world.run_for(10)
        assert not cluster.members[1].controller.is_active
        cluster.look(mend)
        cluster.until(lambda: cluster.members[1].controller.epoch == 2)
        cluster.look(make_topic)
        cluster.until(lambda: len(cluster.members[1].metadata.topics.get("t", ())) == 2)
