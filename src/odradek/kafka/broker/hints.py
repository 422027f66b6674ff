"""Who leads instead, told with the error that sends a client elsewhere (KIP-951)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from odradek.kafka.broker.broker import Broker


class Hint(NamedTuple):
    """The leader of a partition, as far as this broker knows."""

    leader_id: int = -1
    leader_epoch: int = -1


class Node(NamedTuple):
    """Where a broker can be reached."""

    broker_id: int
    host: str
    port: int
    rack: str | None


def hint_of(broker: Broker, topic: str, index: int) -> Hint:
    """What the replica here was told, or else what all brokers were told."""
    partition = broker.partitions.get(topic, index)
    if partition is not None:
        return Hint(partition.leader_id, partition.leader_epoch)
    state = broker.metadata.partition(topic, index)
    return Hint() if state is None else Hint(state.leader, state.leader_epoch)


def nodes_at(broker: Broker, broker_id: int, listener: str) -> Iterator[Node]:
    """A broker's address at a listener, if it lives and has that one."""
    known = broker.metadata.brokers.get(broker_id)
    endpoint = broker.metadata.endpoint(broker_id, listener)
    if known is not None and endpoint is not None:
        yield Node(broker_id, endpoint.host, endpoint.port, known.rack)
