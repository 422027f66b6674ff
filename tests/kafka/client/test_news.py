"""What is told, and which pictures it makes old."""

from __future__ import annotations

import pytest

from odradek.kafka.client.addresses import Address
from odradek.kafka.client.errors import NoBroker, TopicPartition
from odradek.kafka.client.news import News
from odradek.kafka.client.registered import Registered

A, B, C = (Address("host", port) for port in (1, 2, 3))
T0 = TopicPartition("t", 0)


class Told:
    """News, and who was cut off by them."""

    def __init__(self) -> None:
        self.cut: list[Address] = []
        self.news = News("zk://here", self.cut.append)

    def brokers(self, **epochs: int) -> None:
        addresses = {"a": (1, A), "b": (2, B), "c": (3, C)}
        found = {
            addresses[name][0]: Registered(addresses[name][1], it) for name, it in epochs.items()
        }
        self.news.see_brokers(found)


def test_who_left_is_cut_off_and_not_gone_to_again_until_it_is_back() -> None:
    told = Told()
    told.brokers(a=1, b=2)
    assert (told.cut, told.news.addresses()) == ([], [A, B])
    told.brokers(a=1)
    assert told.cut == [B]
    assert told.news.is_gone(B) and not told.news.is_gone(A)
    told.brokers(a=1, b=9)
    assert not told.news.is_gone(B)


def test_a_broker_that_was_restarted_between_two_looks_is_cut_off_but_not_gone() -> None:
    told = Told()
    told.brokers(a=1, b=2)
    told.brokers(a=1, b=3)
    assert told.cut == [B]
    assert not told.news.is_gone(B)


def test_an_empty_list_is_not_believed_by_one_who_knew_some() -> None:
    told = Told()
    told.brokers(a=1)
    told.brokers()
    assert (told.cut, told.news.addresses()) == ([], [A])


def test_without_zookeeper_nothing_speaks_against_a_broker() -> None:
    told = Told()
    told.brokers(a=1, b=2)
    told.brokers(a=1)
    told.news.see_leaders({T0: 5})
    told.news.see_trouble("away")
    assert not told.news.is_gone(B)
    assert not told.news.is_behind("t", {0: 1})
    assert told.news.await_brokers(0) == [A]


def test_who_knows_no_broker_is_told_why() -> None:
    told = Told()
    told.news.see_trouble("no broker is registered just now")
    with pytest.raises(NoBroker, match="zk://here: no broker is registered just now"):
        told.news.await_brokers(0)


def test_a_picture_is_old_once_brokers_or_its_topic_change() -> None:
    news = (told := Told()).news
    told.brokers(a=1)
    asked_at = news.count
    assert not news.is_old("t", {0: 0}, asked_at)
    news.see_topic("other")
    assert not news.is_old("t", {0: 0}, asked_at)
    news.see_topic("t")
    assert news.is_old("t", {0: 0}, asked_at)
    asked_at = news.count
    told.brokers(a=1)
    assert not news.is_old("t", {0: 0}, asked_at)
    told.brokers(a=1, c=2)
    assert news.is_old("t", {0: 0}, asked_at)


def test_a_picture_is_behind_as_long_as_it_has_an_older_leader() -> None:
    news = Told().news
    news.see_leaders({T0: 4})
    assert news.is_behind("t", {0: 3}) and news.is_old("t", {0: 3}, news.count)
    assert not news.is_behind("t", {0: 4})
    assert not news.is_behind("t", {0: -1})  # From a broker that does not tell epochs.
    news.see_leaders({T0: None})  # The topic was deleted, and may be made again.
    assert not news.is_behind("t", {0: 0})


def test_a_wait_ends_with_what_is_new_and_what_is_known_is_no_news() -> None:
    news = Told().news
    assert not news.wait_beyond(news.count, 0)
    before = news.count
    news.see_leaders({T0: 1})
    assert news.wait_beyond(before, 0)
    before = news.count
    news.see_leaders({T0: 1})
    assert not news.wait_beyond(before, 0)
