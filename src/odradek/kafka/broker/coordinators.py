"""The coordinators of this broker: of the groups and of the transactions whose shards it leads.

A client finds its coordinator by FindCoordinator; who asks the wrong broker is told so.
"""

from __future__ import annotations

from typing import Any

from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.group_shards import GroupShards
from odradek.kafka.broker.partition import Partition
from odradek.kafka.broker.shards import Shards
from odradek.kafka.broker.shards_clock import Clock
from odradek.kafka.broker.txn_shards import TxnShards
from odradek.kafka.broker.txn_verification import Verifier


class Coordinators:
    """What the handlers of groups and transactions ask."""

    def __init__(self, broker: Broker) -> None:
        self.clock = Clock(broker.clock())
        self.groups = GroupShards(broker, self.clock)
        self.transactions = TxnShards(broker, self.clock)
        self.verifier = Verifier(broker, self.transactions)
        self._by_topic: dict[str, Shards[Any]] = {
            each.topic: each for each in (self.groups, self.transactions)
        }
        broker.partitions.leading_changed.append(self._leading_changed)
        broker.metadata.updated.append(self.groups.forget_partitions)

    def _leading_changed(self, partition: Partition) -> None:
        shards = self._by_topic.get(partition.where.topic)
        if shards is not None:
            shards.leading_changed(partition)

    def close(self) -> None:
        """The broker stops."""
        for shards in self._by_topic.values():
            shards.close()
        self.verifier.close()
