"""The shop's broker runs, and all orders that the shop remembers are in the topic."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from odradek.demo.shop import ORDERS, PRODUCTS_TOPIC, BrokerProcess, Shop
from odradek.kafka.client.brokers import Brokers, close_shared_brokers
from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.offsets import LATEST, list_offsets
from odradek.kafka.client.settings import client_settings
from tests.waiting import wait_until


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[BrokerProcess]:
    made = BrokerProcess(tmp_path)
    made.start()
    yield made
    close_shared_brokers()
    made.stop()


def count_in(broker: BrokerProcess, topic: str) -> int:
    brokers = Brokers(client_settings({"bootstrap.servers": broker.address}))
    cluster = Cluster(brokers)
    ends = list_offsets(cluster, dict.fromkeys(cluster.partitions_of([topic]), LATEST))
    brokers.close()
    return sum(end or 0 for end in ends.values())


def test_every_order_that_is_remembered_was_written(broker: BrokerProcess) -> None:
    shop = Shop(broker.address)
    shop.set_up()
    assert count_in(broker, PRODUCTS_TOPIC) == 12
    shop.open(per_second=500)
    wait_until(lambda: len(shop.orders) >= 100)
    shop.close()
    assert count_in(broker, ORDERS) == len(shop.orders) + shop.broken_count
