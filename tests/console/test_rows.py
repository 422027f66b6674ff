"""What stands in tables, also when there is much of it."""

from __future__ import annotations

from time import perf_counter

from odradek.console.decoding import Form
from odradek.console.events import Event, Kind
from odradek.console.gatherings import Group
from odradek.console.rows import (
    broker_rows,
    event_rows,
    group_rows,
    message_rows,
    partition_rows,
    time_text,
    topic_rows,
)
from odradek.console.sights import Broker, Sights
from odradek.console.timeline import Entry
from odradek.kafka.controller.image import Assignment, PartitionState
from odradek.kafka.controller.znodes import TopicNode
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.records import Record


def many(topics: int, partitions: int) -> Sights:
    """A cluster of two, in which the first partition of the first topic is short of one."""
    sights = Sights(controller=1, controller_epoch=3)
    sights.brokers = {1: Broker("a:1", "r", 0xAB, 5), 2: Broker("b:1", None, 0xCD, 6)}
    both = Assignment((1, 2))
    for number in range(topics):
        name = f"topic-{number:04d}"
        sights.topics[name] = TopicNode(None, dict.fromkeys(range(partitions), both))
        for it in range(partitions):
            isr = (1,) if not number and not it else (1, 2)
            sights.states[TopicPartition(name, it)] = PartitionState(1 + it % 2, 0, isr, 3)
    return sights


def test_a_topic_is_a_row_that_tells_what_is_wrong_with_it() -> None:
    first, second = topic_rows(many(2, 4))
    assert (first["topic"], first["partitions"], first["replicas"]) == ("topic-0000", 4, 2)
    assert (first["short"], second["short"], first["leaderless"]) == (1, 0, 0)
    assert first["href"] == "/topics/topic-0000"


def test_a_partition_and_a_broker_are_rows() -> None:
    sights = many(1, 2)
    first, second = partition_rows(sights, "topic-0000")
    assert (first["leader"], first["isr"], first["is_short"]) == (1, "1", True)
    assert (second["leader"], second["replicas"], second["is_short"]) == (2, "1, 2", False)
    assert partition_rows(sights, "no-such") == []
    del sights.brokers[2]
    one, other = broker_rows(sights)
    assert (one["role"], one["leads"], one["in_sync"], one["replicas"]) == ("controller", 1, 2, 2)
    assert (other["role"], other["in_sync"], other["replicas"]) == ("not there", 1, 2)


def test_an_event_leads_to_what_it_is_about() -> None:
    events = [
        Event(0, Kind.ISR, "t", "/brokers/x y", "orders", 3),
        Event(0, Kind.REBALANCE, "g", group="a/b&c"),
    ]
    first, second = event_rows(Entry(1, it) for it in events)
    assert (first["about"], first["href"]) == ("orders-3", "/topics/orders/3")
    assert first["znode_href"] == "/znodes?path=/brokers/x%20y"
    assert (second["href"], second["znode"]) == ("/group?name=a%2Fb%26c", "")


def test_groups_and_messages_are_rows_and_nothing_is_not_a_word() -> None:
    group = Group("g", "Stable", "consumer", "range", "b:1", ())
    (row,) = group_rows([group], {"g": None})
    assert (row["lag"], row["protocol"]) == (None, "consumer range")
    (message,) = message_rows([Record(5, 1_700_000_000_123, None, None)], Form.AUTO)
    assert (message["offset"], message["key"], message["is_null"]) == (5, "", True)
    assert message["time"] == "2023-11-14 22:13:20.123"
    assert time_text(-1) == ""


def test_ten_thousand_partitions_are_a_matter_of_moments() -> None:
    sights = many(1000, 10)
    began = perf_counter()
    assert len(topic_rows(sights)) == 1000
    assert broker_rows(sights)[0]["leads"] == 5000
    assert perf_counter() - began < 2.0
