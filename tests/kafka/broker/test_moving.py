"""Replicas and leaderships that move because somebody asked for it."""

from __future__ import annotations

import json

from odradek.kafka.broker.leaving import be_relieved
from odradek.kafka.broker.topics import delete_topic
from odradek.kafka.server.dispatch import serve_locally
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from odradek.kafka.wire.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    TopicPartitions,
)
from odradek.kafka.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from odradek.kafka.wire.schema import Message
from odradek.zookeeper.client.aio import ZooKeeperClient
from tests.kafka.broker.clusters import ask_for_isr, led_by, live, make, state
from tests.kafka.broker.members import Cluster

PREFERRED, UNCLEAN = 0, 1


def ask(cluster: Cluster, broker_id: int, message: Message, version: int) -> Message:
    broker = cluster.members[broker_id].broker
    answer = cluster.do(broker_id, lambda: serve_locally(broker, message, version))
    assert isinstance(answer, Message)
    return answer


def reassign(cluster: Cluster, replicas: list[int] | None, topic: str = "t") -> ErrorCode:
    partition = ReassignablePartition(partition_index=0, replicas=replicas)
    request = AlterPartitionReassignmentsRequest(
        topics=[ReassignableTopic(name=topic, partitions=[partition])]
    )
    answer = ask(cluster, cluster.controller.id, request, 0)
    assert isinstance(answer, AlterPartitionReassignmentsResponse)
    return ErrorCode(answer.responses[0].partitions[0].error_code)


def moves(cluster: Cluster) -> list[tuple[list[int], list[int], list[int]]]:
    request = ListPartitionReassignmentsRequest(topics=None)
    answer = ask(cluster, cluster.controller.id, request, 0)
    assert isinstance(answer, ListPartitionReassignmentsResponse)
    return [
        (it.replicas, it.adding_replicas, it.removing_replicas)
        for topic in answer.topics
        for it in topic.partitions
    ]


def elect(cluster: Cluster, election_type: int, *, all_partitions: bool = False) -> list[int]:
    """Ask for elections; the error of each partition that is spoken of."""
    named = [TopicPartitions(topic="t", partitions=[0])]
    request = ElectLeadersRequest(
        election_type=election_type, topic_partitions=None if all_partitions else named
    )
    answer = ask(cluster, cluster.controller.id, request, 2)
    assert isinstance(answer, ElectLeadersResponse)
    return [
        it.error_code for topic in answer.replica_election_results for it in topic.partition_result
    ]


def second_choice_leads(cluster: Cluster) -> tuple[int, int]:
    """A partition whose first choice was away and is back in sync; its first and second choice."""
    first, second = 3 - cluster.controller.id, cluster.controller.id
    make(cluster, {0: [first, second]})
    cluster.world.host(f"b{first}").kill()
    cluster.until(lambda: led_by(cluster, second))
    cluster.restart(first)
    cluster.until(lambda: cluster.knows(first) and led_by(cluster, second))
    ask_for_isr(cluster, second, [second, first])
    return first, second


def topic_node(cluster: Cluster) -> tuple[object, object, object]:
    value = json.loads(cluster.read("/brokers/topics/t"))
    return value["partitions"], value["adding_replicas"], value["removing_replicas"]


def test_a_move_waits_until_its_target_is_in_sync_and_then_cleans_up() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2, 3)
        make(cluster, {0: [1, 2]})
        assert reassign(cluster, [3, 2]) == ErrorCode.NONE
        assert topic_node(cluster) == ({"0": [3, 2, 1]}, {"0": [3]}, {"0": [1]})
        assert moves(cluster) == [([3, 2, 1], [3], [1])]
        assert state(cluster)["leader_epoch"] == 1
        cluster.until(lambda: cluster.members[3].broker.partitions.get("t", 0) is not None)
        cluster.until(lambda: cluster.members[1].metadata.topics["t"][0].leader_epoch == 1)
        answer = ask_for_isr(cluster, 1, [1, 2, 3])
        assert answer.topics[0].partitions[0].error_code == 0
        cluster.until(lambda: led_by(cluster, 3))
        assert topic_node(cluster) == ({"0": [3, 2]}, {}, {})
        assert sorted(state(cluster)["isr"]) == [2, 3]
        assert moves(cluster) == []
        cluster.until(lambda: cluster.members[1].broker.partitions.get("t", 0) is None)
        assert cluster.members[1].directories.find(TopicPartition("t", 0)) is None


def test_a_move_can_be_taken_back() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2)
        make(cluster, {0: [1]})
        assert reassign(cluster, None) == ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
        assert reassign(cluster, [2]) == ErrorCode.NONE
        cluster.until(lambda: cluster.members[2].broker.partitions.get("t", 0) is not None)
        assert reassign(cluster, None) == ErrorCode.NONE
        assert topic_node(cluster) == ({"0": [1]}, {}, {})
        assert led_by(cluster, 1)
        cluster.until(lambda: cluster.members[2].broker.partitions.get("t", 0) is None)


def test_replicas_go_only_where_somebody_lives() -> None:
    with Cluster() as cluster:
        cluster.start(1)
        make(cluster, {0: [1]})
        for bad in ([], [1, 1], [-1], [9]):
            assert reassign(cluster, bad) == ErrorCode.INVALID_REPLICA_ASSIGNMENT, bad
        assert reassign(cluster, [1], topic="u") == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_old_tools_move_replicas_by_a_znode() -> None:
    async def write(client: ZooKeeperClient) -> None:
        asked = {
            "version": 1,
            "partitions": [
                {"topic": "t", "partition": 0, "replicas": [2]},
                {"topic": "gone", "partition": 0, "replicas": [2]},
            ],
        }
        await client.create("/admin/reassign_partitions", json.dumps(asked).encode())

    async def is_there(client: ZooKeeperClient) -> bool:
        return await client.exists("/admin/reassign_partitions") is not None

    with Cluster() as cluster:
        cluster.start(1, 2)
        make(cluster, {0: [1]})
        cluster.look(write)
        cluster.until(lambda: moves(cluster) == [([2, 1], [2], [1])])
        assert b"gone" not in cluster.read("/admin/reassign_partitions")
        cluster.until(lambda: cluster.members[1].metadata.topics["t"][0].leader_epoch == 1)
        ask_for_isr(cluster, 1, [1, 2])
        cluster.until(lambda: led_by(cluster, 2))
        cluster.until(lambda: not cluster.look(is_there))


def test_a_topic_on_the_move_is_deleted_when_it_has_arrived() -> None:
    async def topics(client: ZooKeeperClient) -> list[str]:
        return await client.get_children("/brokers/topics")

    with Cluster() as cluster:
        cluster.start(1, 2)
        make(cluster, {0: [1]})
        reassign(cluster, [2])
        cluster.until(lambda: cluster.members[1].metadata.topics["t"][0].leader_epoch == 1)
        cluster.do(1, lambda: delete_topic(cluster.members[1].keeper, "t"))
        cluster.world.run_for(10)
        assert cluster.look(topics) == ["t"]
        assert ask_for_isr(cluster, 1, [1, 2]).topics[0].partitions[0].error_code == 0
        cluster.until(lambda: cluster.look(topics) == [])
        cluster.until(lambda: not any("t" in it.metadata.topics for it in live(cluster)))


def test_a_move_goes_on_under_another_controller() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2, 3)
        first = cluster.controller.id
        second, third = [it for it in (1, 2, 3) if it != first]
        make(cluster, {0: [second]})
        reassign(cluster, [third])
        cluster.world.host(f"b{first}").kill()
        cluster.until(lambda: cluster.members[second].metadata.controller_id in (second, third))
        cluster.until(lambda: cluster.members[second].metadata.topics["t"][0].leader_epoch >= 2)
        assert moves(cluster) == [([third, second], [third], [second])]
        cluster.world.run_for(5)
        ask_for_isr(cluster, second, [second, third])
        cluster.until(lambda: led_by(cluster, third))


def test_a_broker_that_asks_to_go_is_relieved_of_what_it_leads() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2, 3)
        goes = next(it for it in (1, 2, 3) if it != cluster.controller.id)
        others = [it for it in (1, 2, 3) if it != goes]
        make(cluster, {0: [goes, *others], 1: [others[0], goes]})
        make(cluster, {0: [goes]}, "alone")
        member = cluster.members[goes]
        settings = member.configs.layers.broker
        relieved = cluster.do(
            goes, lambda: be_relieved(goes, member.keeper, member.channel, settings, member.note)
        )
        assert relieved
        cluster.until(lambda: led_by(cluster, others[0]))
        assert state(cluster)["isr"] == others
        assert state(cluster, TopicPartition("t", 1))["isr"] == [others[0]]
        assert led_by(cluster, goes, TopicPartition("alone", 0))


def test_what_nobody_else_can_lead_keeps_a_broker_for_a_while_only() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2)
        goes, other = 3 - cluster.controller.id, cluster.controller.id
        make(cluster, {0: [goes, other]})
        ask_for_isr(cluster, goes, [goes])
        member = cluster.members[goes]
        settings, began = member.configs.layers.broker, cluster.world.now_s
        relieved = cluster.do(
            goes, lambda: be_relieved(goes, member.keeper, member.channel, settings, member.note)
        )
        assert not relieved
        assert 9 < cluster.world.now_s - began < 15  # Three times, 5 seconds apart.


def test_the_first_choice_gets_its_leadership_back_when_asked_for() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2, auto_leader_rebalance_enable="false")
        first, _ = second_choice_leads(cluster)
        assert elect(cluster, PREFERRED) == [ErrorCode.NONE]
        assert cluster.controller.metadata.topics["t"][0].leader == first
        cluster.until(lambda: led_by(cluster, first))


def test_who_is_away_is_no_preferred_leader() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2)
        first, second = 3 - cluster.controller.id, cluster.controller.id
        make(cluster, {0: [first, second]})
        assert elect(cluster, PREFERRED) == [ErrorCode.ELECTION_NOT_NEEDED]
        assert elect(cluster, PREFERRED, all_partitions=True) == []
        cluster.world.host(f"b{first}").kill()
        cluster.until(lambda: led_by(cluster, second))
        assert elect(cluster, PREFERRED) == [ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE]


def test_an_unclean_election_is_made_only_when_asked_for() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2)
        dead, alive = 3 - cluster.controller.id, cluster.controller.id
        make(cluster, {0: [dead, alive]})
        ask_for_isr(cluster, dead, [dead])
        assert elect(cluster, UNCLEAN) == [ErrorCode.ELECTION_NOT_NEEDED]
        cluster.world.host(f"b{dead}").kill()
        cluster.until(lambda: led_by(cluster, -1))
        assert elect(cluster, UNCLEAN) == [ErrorCode.NONE]
        cluster.until(lambda: led_by(cluster, alive))
        assert state(cluster)["leader_recovery_state"] == 1


def test_old_tools_ask_for_preferred_leaders_by_a_znode() -> None:
    async def write(client: ZooKeeperClient) -> None:
        asked = b'{"version":1,"partitions":[{"topic":"t","partition":0}]}'
        await client.create("/admin/preferred_replica_election", asked)

    async def is_there(client: ZooKeeperClient) -> bool:
        return await client.exists("/admin/preferred_replica_election") is not None

    with Cluster() as cluster:
        cluster.start(1, 2, auto_leader_rebalance_enable="false")
        first, _ = second_choice_leads(cluster)
        for _ in range(2):  # The second time nothing changes, but the node goes all the same.
            cluster.look(write)
            cluster.until(lambda: led_by(cluster, first))
            cluster.until(lambda: not cluster.look(is_there))


def test_leaderships_go_back_by_themselves_after_a_while() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2)
        first, _ = second_choice_leads(cluster)
        cluster.until(lambda: led_by(cluster, first), limit_s=400)


def test_only_the_controller_moves_anything() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2)
        make(cluster, {0: [1]})
        other = 3 - cluster.controller.id
        partition = ReassignablePartition(partition_index=0, replicas=[2])
        topics = [ReassignableTopic(name="t", partitions=[partition])]
        asked = AlterPartitionReassignmentsRequest(topics=topics)
        answer = ask(cluster, other, asked, 0)
        assert isinstance(answer, AlterPartitionReassignmentsResponse)
        assert answer.error_code == ErrorCode.NOT_CONTROLLER
        listed = ask(cluster, other, ListPartitionReassignmentsRequest(topics=None), 0)
        assert isinstance(listed, ListPartitionReassignmentsResponse)
        assert listed.error_code == ErrorCode.NOT_CONTROLLER
        request = ElectLeadersRequest(topic_partitions=None, election_type=PREFERRED)
        elected = ask(cluster, other, request, 2)
        assert isinstance(elected, ElectLeadersResponse)
        results = elected.replica_election_results[0].partition_result
        assert results[0].error_code == ErrorCode.NOT_CONTROLLER
