"""What ZooKeeper has told of a cluster: written by the watch's thread, read by the client's.

`count` grows with each piece of news. A client remembers how far it had grown when it asked for
metadata: what is told later makes its picture old, and so does a leader's epoch that is greater
than the picture's, for the broker that we asked may not have heard of the election itself.

While ZooKeeper is away nothing that it told speaks against a broker: a client goes on with what
it knows. Neither is an empty list of brokers believed by one who knew some: if they are truly
gone, their connections tell.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from odradek.kafka.client.addresses import Address
from odradek.kafka.client.errors import NoBroker, TopicPartition
from odradek.kafka.client.registered import Registered


class News:
    """All that is known; `cut` is called with the address of each broker that is gone."""

    def __init__(self, where: str, cut: Callable[[Address], object]) -> None:
        self.count = 0
        self.trouble = "no server has answered yet"  # Why nothing is told just now; "": it is.
        self._where = where
        self._cut = cut
        self._told = threading.Condition()
        self._brokers: dict[int, Registered] = {}
        self._gone: set[Address] = set()
        self._brokers_changed_at = 0
        self._topics_changed_at: dict[str, int] = {}
        self._leader_epochs: dict[TopicPartition, int] = {}

    # What the watch sees

    def see_brokers(self, found: Mapping[int, Registered]) -> None:
        """These are registered now, and no others."""
        if not found:
            return
        with self._told:
            known, self._brokers = self._brokers, dict(found)
            self.trouble = ""
            lost = {it.address for key, it in known.items() if found.get(key) != it}
            self._gone = (self._gone | lost) - {it.address for it in found.values()}
            if known != self._brokers:
                self._brokers_changed_at = self._grow()
        for address in lost:
            self._cut(address)

    def see_leaders(self, epochs: Mapping[TopicPartition, int | None]) -> None:
        """These partitions have leaders of these epochs; None: there is no such partition."""
        with self._told:
            known = self._leader_epochs
            news = {one: epoch for one, epoch in epochs.items() if known.get(one) != epoch}
            kept = {one: epoch for one, epoch in (known | news).items() if epoch is not None}
            self._leader_epochs = kept
            if news:
                self._grow()

    def see_topic(self, topic: str) -> None:
        """The topic itself was changed, made or deleted."""
        with self._told:
            self._topics_changed_at[topic] = self._grow()

    def see_trouble(self, trouble: str) -> None:
        """ZooKeeper tells nothing for now."""
        with self._told:
            self.trouble = trouble
            self._gone = set()
            self._leader_epochs = {}

    def _grow(self) -> int:
        self.count += 1
        self._told.notify_all()
        return self.count

    # What a client asks

    def addresses(self) -> list[Address]:
        """The brokers, as they were told of last."""
        return [it.address for it in self._brokers.values()]

    def await_brokers(self, timeout_s: float) -> list[Address]:
        """The same; waits for the first that is told of."""
        with self._told:
            if not self._told.wait_for(lambda: self._brokers, timeout_s):
                raise NoBroker(f"{self._where}: {self.trouble}")
            return self.addresses()

    def address_of(self, broker_id: int) -> Address | None:
        known = self._brokers.get(broker_id)
        return known.address if known is not None else None

    def is_gone(self, address: Address) -> bool:
        """Whether the broker that listened there has left."""
        return address in self._gone

    def is_old(self, topic: str, leader_epochs: Mapping[int, int], count: int) -> bool:
        """Whether a picture is old that was asked for when the news were `count`."""
        if max(self._brokers_changed_at, self._topics_changed_at.get(topic, 0)) > count:
            return True
        return self.is_behind(topic, leader_epochs)

    def is_behind(self, topic: str, leader_epochs: Mapping[int, int]) -> bool:
        """Whether an election is known that these epochs of leaders, by partition, are before."""
        told = self._leader_epochs
        return any(
            0 <= epoch < told.get(TopicPartition(topic, partition), 0)
            for partition, epoch in leader_epochs.items()
        )

    def wait_beyond(self, count: int, timeout_s: float) -> bool:
        """Wait until there are more news than these; whether there are in time."""
        with self._told:
            return self._told.wait_for(lambda: self.count > count, timeout_s)
