"""A broker's place in ZooKeeper: its session, its id, its registration."""

from __future__ import annotations

import json

import pytest

from odradek.kafka.broker.keeper import DuplicateBroker
from odradek.simulation.errors import NodeFailed
from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.errors import NoNode
from odradek.zookeeper.client.states import State
from odradek.zookeeper.wire.codes import CreateMode, Perms
from odradek.zookeeper.wire.messages.data import Stat
from tests.kafka.broker.members import SESSION_MS, Cluster, Member

AT_START = (
    "/consumers",
    "/brokers/ids",
    "/brokers/topics",
    "/brokers/seqid",
    "/config/changes",
    "/config/topics",
    "/config/clients",
    "/config/users",
    "/config/brokers",
    "/config/ips",
    "/admin/delete_topics",
    "/isr_change_notification",
    "/log_dir_event_notification",
    "/latest_producer_id_block",
)


def stat_of(cluster: Cluster, path: str) -> Stat | None:
    async def story(client: ZooKeeperClient) -> Stat | None:
        return await client.exists(path)

    found = cluster.look(story)
    assert found is None or isinstance(found, Stat)
    return found


def test_a_start_makes_all_that_every_cluster_has() -> None:
    with Cluster() as cluster:
        cluster.start(1)
        assert [path for path in AT_START if stat_of(cluster, path) is None] == []


def test_a_registration_is_a_transaction_whose_number_is_the_epoch() -> None:
    with Cluster() as cluster:
        cluster.start(1)
        stat = stat_of(cluster, "/brokers/ids/1")
        assert stat is not None
        assert stat.version == 1
        assert stat.czxid == cluster.members[1].keeper.epoch
        assert stat.ephemeral_owner == cluster.members[1].keeper.client.session_id
        value = json.loads(cluster.read("/brokers/ids/1"))
        assert value.pop("timestamp").isdecimal()
        assert value == {
            "version": 5,
            "host": "b1",
            "port": 9092,
            "endpoints": ["PLAINTEXT://b1:9092"],
            "listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT"},
            "features": {},
            "jmx_port": -1,
        }


def test_the_first_broker_names_the_cluster_and_others_take_the_name() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2)
        assert len(cluster.members[1].broker.cluster_id) == 22
        assert cluster.members[1].broker.cluster_id == cluster.members[2].broker.cluster_id
        value = json.loads(cluster.read("/cluster/id"))
        assert value == {"version": "1", "id": cluster.members[1].broker.cluster_id}


def test_an_id_that_another_broker_lives_under_is_refused() -> None:
    with Cluster() as cluster:
        cluster.start(1)
        cluster.host = lambda broker_id: "impostor"  # type: ignore[method-assign]
        cluster.launch(1)
        with pytest.raises(NodeFailed) as caught:
            cluster.world.run_for(60)
        assert isinstance(caught.value.__cause__, DuplicateBroker)
        assert "broker.id=1" in str(caught.value.__cause__)


def test_the_end_of_an_earlier_life_that_was_killed_is_waited_for() -> None:
    with Cluster() as cluster:
        cluster.start(1)
        earlier = cluster.members[1].keeper
        cluster.world.host("b1").kill()
        cluster.restart(1)
        cluster.world.run_for(1)
        stat = stat_of(cluster, "/brokers/ids/1")
        assert stat is not None
        assert stat.ephemeral_owner == earlier.client.session_id
        cluster.until(lambda: cluster.members[1].keeper.epoch > earlier.epoch, SESSION_MS / 500)


def test_a_session_that_does_not_end_is_not_waited_for_for_ever() -> None:
    async def hold_the_id(client: ZooKeeperClient) -> None:
        endpoint = "PLAINTEXT://b1:9092"
        data = f'{{"version":2,"host":"b1","port":9092,"endpoints":["{endpoint}"]}}'
        await client.create("/brokers", None)
        await client.create("/brokers/ids", None)
        await client.create("/brokers/ids/1", data.encode(), mode=CreateMode.PERSISTENT)

    with Cluster() as cluster:
        cluster.look(hold_the_id)
        cluster.launch(1)
        cluster.world.run_for(SESSION_MS / 1000)
        with pytest.raises(NodeFailed) as caught:
            cluster.world.run_for(2 * SESSION_MS / 1000)
        assert isinstance(caught.value.__cause__, DuplicateBroker)


@pytest.mark.parametrize("data", [b"", b"no JSON", b'{"version":2,"endpoints":["b1"]}'])
def test_who_cannot_be_looked_for_is_not_waited_for(data: bytes) -> None:
    async def hold_the_id(client: ZooKeeperClient) -> None:
        await client.create("/brokers", None)
        await client.create("/brokers/ids", None)
        await client.create("/brokers/ids/1", data)

    with Cluster() as cluster:
        cluster.look(hold_the_id)
        cluster.launch(1)
        with pytest.raises(NodeFailed) as caught:
            cluster.world.run_for(1)
        assert isinstance(caught.value.__cause__, DuplicateBroker)


def test_ids_are_counted_where_none_is_given() -> None:
    with Cluster() as cluster:
        cluster.start(1)
        keeper = cluster.members[1].keeper
        assert cluster.do(1, keeper.new_broker_id) == 1001
        assert cluster.do(1, keeper.new_broker_id) == 1002


def test_a_root_of_ones_own_is_made_and_nothing_is_beside_it() -> None:
    with Cluster() as cluster:
        cluster.start(1, zookeeper_connect="zookeeper:2181/kafka/east")
        assert stat_of(cluster, "/kafka/east/brokers/ids/1") is not None
        assert stat_of(cluster, "/kafka/east/controller") is not None
        assert stat_of(cluster, "/brokers") is None


def begin_to_start(cluster: Cluster, moment_ms: int) -> None:
    """Let the first moments of a start go by: it takes about 50 ms."""
    cluster.launch(
        1,
        zookeeper_connect="zookeeper:2181/kafka/east",
        zookeeper_connection_timeout_ms=SESSION_MS * 10,
    )
    cluster.world.run_for(moment_ms / 1000)


def check_start(cluster: Cluster) -> None:
    def is_settled() -> bool:
        member = cluster.members[1]
        return member.keeper.client.state is State.CONNECTED and member.controller.is_active

    cluster.until(is_settled)
    stat = stat_of(cluster, "/kafka/east/brokers/ids/1")
    assert stat is not None
    assert stat.czxid == cluster.members[1].keeper.epoch


@pytest.mark.parametrize("moment_ms", range(4, 54, 2))
def test_a_connection_may_be_lost_at_any_moment_of_a_start(moment_ms: int) -> None:
    with Cluster() as cluster:
        begin_to_start(cluster, moment_ms)
        cluster.world.network.reset("b1", "zookeeper")
        check_start(cluster)


@pytest.mark.parametrize("moment_ms", range(4, 54, 2))
def test_a_session_may_be_lost_at_any_moment_of_a_start(moment_ms: int) -> None:
    with Cluster() as cluster:
        begin_to_start(cluster, moment_ms)
        cluster.world.network.cut("b1", "zookeeper")
        cluster.world.run_for(SESSION_MS / 1000 * 3)
        cluster.world.network.heal("b1", "zookeeper")
        check_start(cluster)


def test_a_lost_session_is_followed_by_another_registration() -> None:
    with Cluster() as cluster:
        cluster.start(1)
        member = cluster.members[1]
        first_epoch, first_session = member.keeper.epoch, member.keeper.client.session_id
        cluster.world.network.cut("b1", "zookeeper")
        cluster.world.run_for(SESSION_MS / 1000 * 3)
        assert stat_of(cluster, "/brokers/ids/1") is None
        cluster.world.network.heal("b1", "zookeeper")
        cluster.until(lambda: member.keeper.epoch > first_epoch and member.controller.is_active)
        stat = stat_of(cluster, "/brokers/ids/1")
        assert stat is not None
        assert stat.czxid == member.keeper.epoch
        assert member.keeper.client.session_id != first_session
        assert member.controller.epoch == 2


def test_a_short_cut_ends_no_session() -> None:
    with Cluster() as cluster:
        cluster.start(1)
        member = cluster.members[1]
        first_epoch = member.keeper.epoch
        cluster.world.network.reset("b1", "zookeeper")
        cluster.world.run_for(SESSION_MS / 1000 * 3)
        assert member.keeper.epoch == first_epoch
        assert member.controller.epoch == 1


def test_a_stop_ends_the_registration() -> None:
    with Cluster() as cluster:
        cluster.start(1)
        member = cluster.members[1]

        async def gone(client: ZooKeeperClient) -> bool:
            try:
                await client.get_data("/brokers/ids/1")
            except NoNode:
                return True
            return False

        cluster.do(1, member.keeper.close)
        assert cluster.look(gone)


@pytest.mark.parametrize(
    ("path", "perms"),
    [
        ("/brokers/topics/t", [Perms.ALL, Perms.READ]),
        ("/config/users/u", [Perms.ALL]),
        ("/config/brokers/1", [Perms.ALL]),
        ("/consumers/g", [Perms.ALL]),
    ],
)
def test_acls_are_set_where_they_are_asked_for(path: str, perms: list[Perms]) -> None:
    async def main(environment: Environment) -> list[tuple[int, str | None]]:
        member = Member(1, "b1", environment.disk, environment.random, zookeeper_set_acl="true")
        return [(it.perms, it.id.scheme) for it in member.keeper.acl(path)]

    with World(1) as world:
        found = world.run_to_end(world.host("b1").start(main))
    assert [it for it, _ in found] == perms
    assert found[0][1] == ("world" if path.startswith("/consumers") else "auth")
