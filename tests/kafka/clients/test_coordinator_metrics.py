"""What operators see of groups and transactions while clients use them."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.request import urlopen

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.kafka.clients.members import WAIT_S, make_topic
from tests.kafka.clients.transacting import producer, transact
from tests.kafka.server.running import RunningBroker, running_broker
from tests.processes import HOST
from tests.waiting import wait_until

GROUPS = "kafka_coordinator_group_groupmetadatamanager"
SENSORS = "kafka_server_group_coordinator_metrics"
MARKERS = "kafka_coordinator_transaction_transactionmarkerchannelmanager"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    settings = {"offsets.topic.num.partitions": 2, "transaction.state.log.num.partitions": 2}
    with running_broker(tmp_path_factory.mktemp("measured"), **settings) as running:
        yield running


def figures(broker: RunningBroker) -> dict[str, float]:
    """All metrics without labels."""
    with urlopen(f"http://{HOST}:{broker.http_port}/metrics") as page:
        lines = page.read().decode().splitlines()
    rows = (line.split() for line in lines if not line.startswith("#") and "{" not in line)
    return {name: float(value) for name, value in rows}


def test_groups_are_counted_by_their_state(broker: RunningBroker) -> None:
    topic = make_topic(broker, "counted", 3)
    before = figures(broker)
    consumer = Consumer({"bootstrap.servers": broker.address, "group.id": "living"})
    consumer.subscribe([topic])
    wait_until(lambda: consumer.poll(0.05) is None and consumer.assignment(), WAIT_S)
    consumer.commit(offsets=[TopicPartition(topic, 0, 5)], asynchronous=False)
    while_alive = figures(broker)
    assert while_alive[f"{GROUPS}_numgroups"] == before[f"{GROUPS}_numgroups"] + 1
    assert while_alive[f"{GROUPS}_numgroupsstable"] == 1
    assert while_alive[f"{GROUPS}_numoffsets"] == before[f"{GROUPS}_numoffsets"] + 1
    for name in ("offset_commit", "group_completed_rebalance"):
        key = f"{SENSORS}_{name}_total"
        assert while_alive[key] == before[key] + 1
    consumer.close()
    wait_until(lambda: figures(broker)[f"{GROUPS}_numgroupsempty"] == 1)
    admin = AdminClient({"bootstrap.servers": broker.address})
    admin.delete_consumer_groups(["living"])["living"].result(WAIT_S)
    after = figures(broker)
    assert after[f"{GROUPS}_numgroups"] == before[f"{GROUPS}_numgroups"]
    assert after[f"{SENSORS}_offset_deletion_total"] == 1
    assert after[f"{SENSORS}_offset_expiration_total"] == 0


def test_transactions_leave_no_markers_behind(broker: RunningBroker) -> None:
    topic = make_topic(broker, "marked")
    transact(producer(broker, "x"), topic, b"one")
    found = figures(broker)
    assert found[f"{MARKERS}_unknowndestinationqueuesize"] == 0
    assert found[f"{MARKERS}_logappendretryqueuesize"] == 0
    assert found["kafka_server_addpartitionstotxnmanager_verificationfailure_total"] == 0
    for kind in ("group", "transaction"):
        assert found[f"kafka_server_{kind}_coordinator_metrics_partition_load_time_max"] >= 0
