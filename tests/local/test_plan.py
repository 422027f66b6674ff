"""Plans: the files that servers get, and what is said about numbers of servers."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from odradek.kafka.settings import load as load_broker
from odradek.local.directory import ClusterDirectory
from odradek.local.errors import ForeignDirectory, PortTaken
from odradek.local.plan import (
    BrokerPlan,
    ClusterPlan,
    ZooKeeperPlan,
    advice_on,
    plan_from_json,
    server_properties,
    zoo_cfg,
)
from odradek.local.ports import asked_port, free_ports
from odradek.local.preparing import plan_cluster, write_broker_files, write_zookeeper_files
from odradek.runtime.os_disk import OsDisk
from odradek.zookeeper.settings import load as load_zookeeper
from tests.processes import free_port

PLAN = ClusterPlan(
    (BrokerPlan(1, 9092, 9192), BrokerPlan(2, 9093, 9193, advertised=19093)),
    (
        ZooKeeperPlan(1, 2181, 2281, 2381),
        ZooKeeperPlan(2, 2182, 2282, 2382, (12182, 12282, 12382)),
        ZooKeeperPlan(3, 2183, 2283, 2383),
    ),
)


@contextmanager
def listening(port: int) -> Iterator[None]:
    with socket.create_server(("127.0.0.1", port)):
        yield


def test_a_plan_outlives_its_file() -> None:
    assert plan_from_json(json.loads(json.dumps(PLAN.as_json()))) == PLAN


def test_others_are_told_where_a_server_is_advertised_and_itself_where_it_listens() -> None:
    own = zoo_cfg(PLAN, PLAN.zookeepers[1], "/data")
    others = zoo_cfg(PLAN, PLAN.zookeepers[0], "/data")
    assert own["clientPort"] == "2182"
    assert own["server.2"] == "127.0.0.1:2282:2382"
    assert others["server.2"] == "127.0.0.1:12282:12382"
    properties = server_properties(PLAN, PLAN.brokers[1], "/data")
    assert properties["listeners"] == "PLAINTEXT://127.0.0.1:9093"
    assert properties["advertised.listeners"] == "PLAINTEXT://127.0.0.1:19093"
    assert properties["zookeeper.connect"] == "127.0.0.1:2181,127.0.0.1:12182,127.0.0.1:2183"


def test_no_topic_wants_more_replicas_than_there_are_brokers() -> None:
    properties = server_properties(PLAN, PLAN.brokers[0], "/data")
    assert properties["offsets.topic.replication.factor"] == "2"
    alone = ClusterPlan(PLAN.brokers[:1])
    assert server_properties(alone, alone.brokers[0], "/d")["default.replication.factor"] == "1"


def test_servers_read_the_files_without_a_complaint(tmp_path: Path) -> None:
    home = ClusterDirectory(tmp_path / "cluster")
    home.own()
    broker = load_broker(OsDisk(), str(write_broker_files(home, PLAN, PLAN.brokers[0])), {})
    assert (broker.broker_id, list(broker.warnings)) == (1, [])
    file = write_zookeeper_files(home, PLAN, PLAN.zookeepers[1])
    zookeeper = load_zookeeper(OsDisk(), str(file), "")
    assert (zookeeper.server_id, list(zookeeper.warnings)) == (2, [])
    home.release()


@pytest.mark.parametrize("count", [1, 3, 5])
def test_an_odd_number_of_zookeepers_needs_no_advice(count: int) -> None:
    assert advice_on(count) is None


def test_an_even_number_of_zookeepers_is_advised_against_with_the_reason() -> None:
    assert "3 of them must agree, so 1 may fail, as with 3" in (advice_on(4) or "")


def test_ports_that_are_handed_out_together_are_distinct() -> None:
    ports = free_ports(50)
    assert len(set(ports)) == 50
    assert max(ports) < 32_768  # Behind that systems look for ports of outgoing connections.


def test_a_preferred_port_is_kept_if_it_is_free_and_given_up_if_not() -> None:
    with_room = free_port()
    assert free_ports(1, [with_room]) == [with_room]
    (taken,) = free_ports(1)
    with listening(taken):
        assert free_ports(1, [taken]) != [taken]


def test_a_port_that_is_asked_for_and_taken_gets_a_sentence() -> None:
    (taken,) = free_ports(1)
    with listening(taken), pytest.raises(PortTaken, match=f"port {taken} is taken"):
        asked_port(taken)


def test_a_cluster_comes_back_on_its_ports() -> None:
    first = plan_cluster(2, 3, has_usual_ports=False)
    again = plan_cluster(2, 3, known=first)
    assert again == first


def test_data_of_another_shape_is_refused() -> None:
    known = plan_cluster(1, 0, has_usual_ports=False)
    with pytest.raises(ForeignDirectory, match="1 broker with a ZooKeeper inside, not of 3 bro"):
        plan_cluster(3, 3, known=known)


def test_ports_after_the_last_there_are_is_refused() -> None:
    with pytest.raises(ForeignDirectory, match="no port 65537"):
        plan_cluster(3, 3, first_port=65_535)
