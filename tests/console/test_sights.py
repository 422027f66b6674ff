"""What happened, from one znode after another."""

from __future__ import annotations

from odradek.console.events import Event, Kind
from odradek.console.sights import Node, Sights
from odradek.kafka.controller.image import Assignment, PartitionState
from odradek.kafka.controller.registration import Registration, write_registration
from odradek.kafka.controller.znodes import write_controller, write_state, write_topic
from odradek.kafka.settings.endpoints import Endpoint, SecurityProtocol
from odradek.kafka.storage.names import TopicPartition

ID = bytes(range(16))
STATE = "/brokers/topics/orders/partitions/0/state"


class Tree:
    """Znodes that are written one by one, and seen."""

    def __init__(self) -> None:
        self.sights = Sights(is_quiet=False)
        self.zxid = 100

    def write(self, path: str, data: bytes, owner: int = 0, *, is_new: bool = True) -> list[Event]:
        self.zxid += 1
        created = self.zxid if is_new else 1
        node = Node(data, 1_000 + self.zxid, self.zxid, 0, owner, created)
        return self.sights.see(path, node, now_ms=9_999)

    def delete(self, path: str) -> list[Event]:
        self.zxid += 1
        return self.sights.see(path, None, 9_999, self.zxid)

    def broker(self, number: int, session: int) -> list[Event]:
        endpoint = Endpoint("PLAINTEXT", "host", 9092 + number, SecurityProtocol.PLAINTEXT)
        data = write_registration(Registration(number, (endpoint,)), 0)
        return self.write(f"/brokers/ids/{number}", data, session)

    def topic(self, *assignments: Assignment) -> list[Event]:
        data = write_topic(ID, dict(enumerate(assignments)))
        return self.write("/brokers/topics/orders", data)

    def state(self, leader: int, epoch: int, *isr: int) -> list[Event]:
        return self.write(STATE, write_state(PartitionState(leader, epoch, isr, 1)))


def texts(events: list[Event]) -> list[tuple[Kind, str]]:
    return [(it.kind, it.text) for it in events]


def test_a_broker_registers_in_a_session_and_goes_when_that_ends() -> None:
    tree = Tree()
    (came,) = tree.broker(1, 0xABC)
    assert (came.kind, came.path, came.time_ms) == (Kind.REGISTRATION, "/brokers/ids/1", 1101)
    assert came.text == "broker 1 registers at host:9093 in session 0xabc"
    assert tree.sights.brokers[1].epoch == 101
    (went,) = tree.delete("/brokers/ids/1")
    assert (went.kind, went.time_ms, went.zxid) == (Kind.EXPIRY, 9_999, 102)
    assert went.text == "broker 1 is gone: its session 0xabc has ended"
    assert tree.sights.brokers == {}
    assert tree.delete("/brokers/ids/1") == []


def test_a_registration_that_was_replaced_while_nobody_looked_is_told_once() -> None:
    tree = Tree()
    tree.broker(1, 0xABC)
    (again,) = tree.broker(1, 0xDEF)
    assert again.kind is Kind.REGISTRATION
    seen = tree.sights.brokers[1]
    assert (seen.session, seen.epoch) == (0xDEF, 102)


def test_a_controller_is_elected_and_begins_an_epoch() -> None:
    tree = Tree()
    assert texts(tree.write("/controller", write_controller(2, 0))) == [
        (Kind.ELECTION, "broker 2 is elected controller")
    ]
    assert tree.write("/controller", write_controller(2, 5)) == []
    assert texts(tree.write("/controller_epoch", b"7")) == [
        (Kind.EPOCH, "controller epoch 7 begins")
    ]
    assert texts(tree.delete("/controller")) == [(Kind.EXPIRY, "broker 2 is controller no more")]
    assert (tree.sights.controller, tree.sights.controller_epoch) == (None, 7)


def test_a_leader_changes_and_the_isr_shrinks_and_expands() -> None:
    tree = Tree()
    tree.topic(Assignment((1, 2)))
    assert tree.state(1, 0, 1, 2) == []
    both = tree.state(2, 1, 2)
    assert texts(both) == [
        (Kind.LEADER, "orders-0: 2 leads after 1, in epoch 1"),
        (Kind.ISR, "orders-0: ISR shrinks from 1, 2 to 2"),
    ]
    assert {(it.topic, it.partition, it.path) for it in both} == {("orders", 0, STATE)}
    assert tree.sights.short() == [TopicPartition("orders", 0)]
    assert texts(tree.state(2, 1, 2, 1)) == [(Kind.ISR, "orders-0: ISR expands from 2 to 2, 1")]
    assert tree.sights.short() == []
    assert texts(tree.state(-1, 2, 1, 2)) == [(Kind.LEADER, "orders-0 has no leader")]
    assert tree.sights.leaderless() == [TopicPartition("orders", 0)]
    assert texts(tree.state(2, 3, 1, 2)) == [
        (Kind.LEADER, "orders-0: 2 leads after nobody, in epoch 3")
    ]


def test_a_topic_is_created_grows_moves_and_is_deleted_with_its_states() -> None:
    tree = Tree()
    one, other = Assignment((1, 2)), Assignment((2, 1))
    assert texts(tree.topic(one)) == [(Kind.TOPIC, "topic orders is created, 1 partition")]
    tree.state(1, 0, 1, 2)
    assert texts(tree.topic(one, other)) == [(Kind.TOPIC, "topic orders grows to 2 partitions")]
    moving = Assignment((3, 1, 2), adding=(3,), removing=(2,))
    assert texts(tree.topic(moving, other)) == [(Kind.REASSIGNMENT, "orders-0 moves to 3, 1")]
    assert texts(tree.topic(Assignment((3, 1)), other)) == [
        (Kind.REASSIGNMENT, "orders-0 is assigned to 3, 1")
    ]
    doomed = "/admin/delete_topics/orders"
    assert texts(tree.write(doomed, b"")) == [(Kind.TOPIC, "topic orders is to be deleted")]
    assert texts(tree.delete("/brokers/topics/orders")) == [(Kind.TOPIC, "topic orders is deleted")]
    assert tree.delete(doomed) == []
    assert (tree.sights.topics, tree.sights.states) == ({}, {})


def test_settings_that_change_are_told_without_their_values() -> None:
    tree = Tree()
    path = "/config/topics/orders"
    assert tree.write(path, b'{"config":{"a":"1"}}') == []
    (changed,) = tree.write(path, b'{"config":{"a":"secret"}}', is_new=False)
    assert (changed.kind, changed.topic) == (Kind.CONFIG, "orders")
    assert "secret" not in changed.text


def test_what_is_there_at_the_start_is_no_event_and_yet_known() -> None:
    tree = Tree()
    tree.sights.is_quiet = True
    assert tree.broker(1, 5) == tree.write("/controller", write_controller(1, 0)) == []
    assert (list(tree.sights.brokers), tree.sights.controller) == ([1], 1)


def test_a_znode_that_nobody_understands_and_one_of_no_interest_are_no_events() -> None:
    tree = Tree()
    assert tree.write("/controller", b"nonsense") == []
    assert tree.write("/somebody/else", b"{}") == []
    version = tree.sights.version
    tree.write("/somebody/else", b"{}")
    assert tree.sights.version == version
