"""All orders that the shop remembers are in the topic, and an ack is told when it has come."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest

from odradek.demo.shop import ORDERS, PRODUCTS_TOPIC, Shop
from odradek.kafka.client.brokers import close_shared_brokers
from odradek.kafka.client.offsets import LATEST, list_offsets
from tests.kafka.client.brokers import broker_address, topics_of
from tests.kafka.client.topics import Topics
from tests.waiting import wait_until

PATIENCE_S = 60.0


@pytest.fixture
def topics(tmp_path: Path) -> Iterator[Topics]:
    with broker_address(tmp_path) as address, topics_of(address) as made:
        yield made
        close_shared_brokers()


def count_in(topics: Topics, topic: str) -> int:
    partitions = topics.cluster.partitions_of([topic])
    ends = list_offsets(topics.cluster, dict.fromkeys(partitions, LATEST))
    return sum(end or 0 for end in ends.values())


def test_every_order_that_is_remembered_was_written(topics: Topics) -> None:
    shop = Shop(topics.bootstrap_servers)
    shop.set_up()
    assert count_in(topics, PRODUCTS_TOPIC) == 12
    shop.open(per_second=500)
    wait_until(lambda: len(shop.orders) >= 100)
    shop.close()
    assert count_in(topics, ORDERS) == len(shop.orders) + shop.broken_count


def test_an_ack_is_one_of_orders_that_were_sent_after_the_moment(topics: Topics) -> None:
    shop = Shop(topics.bootstrap_servers)
    shop.set_up()
    shop.open(per_second=500)
    for _ in range(3):
        moment = monotonic()
        assert moment < shop.await_ack({0, 1, 2}, moment, PATIENCE_S) <= monotonic()
    shop.close()
