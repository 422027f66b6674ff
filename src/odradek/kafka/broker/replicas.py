"""The replicas that follow: each is with a fetcher of its leader, in the epoch that it was told.

A leader has as many fetchers as `num.replica.fetchers` says, each with a connection of its own and
many partitions; which one a partition is with follows from its name. One without partitions ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

from odradek.kafka.broker.comparing import TurnOf
from odradek.kafka.broker.fetcher import Fetcher
from odradek.kafka.broker.partition import NOBODY, Partition
from odradek.kafka.replication.follower import Following
from odradek.kafka.replication.selector import KNOWN as SELECTORS
from odradek.kafka.storage.names import TopicPartition

if TYPE_CHECKING:
    from odradek.kafka.broker.broker import Broker


class Replicas:
    """What this broker follows, and through which fetchers."""

    def __init__(self, broker: Broker, turn_of: TurnOf) -> None:
        self._broker = broker
        self._turn_of = turn_of
        self._fetchers: dict[tuple[int, int], Fetcher] = {}
        self._places: dict[TopicPartition, tuple[int, int]] = {}

    def start(self) -> None:
        """Follow from now on what partitions say."""
        self._broker.partitions.leading_changed.append(self.changed)
        self._broker.metadata.updated.append(lambda gone: self._wake())
        selector = self._broker.settings.replica_selector_class
        if selector is not None and selector not in SELECTORS:
            self._broker.note.warning("%s cannot run here: leaders serve consumers", selector)

    @property
    def fetcher_count(self) -> int:
        return len(self._fetchers)

    @property
    def followed_count(self) -> int:
        return len(self._places)

    def changed(self, partition: Partition) -> None:
        """A partition has another leader, another epoch, or is gone."""
        where = partition.where
        is_here = self._broker.partitions.get(*where) is partition
        if not is_here or partition.is_leader or partition.leader_id == NOBODY:
            self._leave(where)
        elif not self._is_followed(partition):
            self._leave(where)
            self._join(partition)

    def resize(self) -> None:
        """Have as many fetchers as the settings now say."""
        for where, place in list(self._places.items()):
            partition = self._broker.partitions.get(*where)
            if partition is not None and self._place(partition) != place:
                self._leave(where)
                self._join(partition)

    def _is_followed(self, partition: Partition) -> bool:
        place = self._places.get(partition.where)
        if place is None or place[0] != partition.leader_id:
            return False
        following = self._fetchers[place].followed.get(partition.where)
        return (
            following is not None
            and following.leader_epoch == partition.leader_epoch
            and following.topic_id == partition.topic_id
        )

    def _place(self, partition: Partition) -> tuple[int, int]:
        count = max(1, self._broker.settings.num_replica_fetchers)
        return partition.leader_id, crc32(str(partition.where).encode()) % count

    def _join(self, partition: Partition) -> None:
        place = self._places[partition.where] = self._place(partition)
        fetcher = self._fetchers.get(place)
        if fetcher is None:
            fetcher = Fetcher(self._broker, partition.leader_id, self._turn_of)
            self._fetchers[place] = fetcher
            name = "fetcher of {} ({})".format(*place)
            fetcher.task = self._broker.tasks.start(name, fetcher.run(), may_end=True)
        fetcher.add(
            Following(
                partition.where, partition.topic_id, partition.leader_id, partition.leader_epoch
            )
        )

    def _leave(self, where: TopicPartition) -> None:
        place = self._places.pop(where, None)
        if place is None:
            return
        fetcher = self._fetchers[place]
        fetcher.remove(where)
        if not fetcher.followed:
            del self._fetchers[place]
            fetcher.close()

    def _wake(self) -> None:
        for fetcher in self._fetchers.values():
            fetcher.wake()
