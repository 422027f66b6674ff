"""Images of clusters, in few words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from odradek.kafka.controller.image import Assignment, Image, LiveBroker, PartitionState
from odradek.kafka.controller.registration import Registration
from odradek.kafka.settings.endpoints import Endpoint, SecurityProtocol
from odradek.kafka.storage.names import TopicPartition

T0 = TopicPartition("t", 0)
TOPIC_ID = bytes(range(16))
EPOCH = 5


def broker(broker_id: int, epoch: int = 100, rack: str | None = None) -> LiveBroker:
    endpoint = Endpoint("PLAINTEXT", f"h{broker_id}", 9092, SecurityProtocol.PLAINTEXT)
    return LiveBroker(Registration(broker_id, (endpoint,), rack), epoch)


def image(
    brokers: Iterable[int],
    replicas: Mapping[int, Iterable[int]] | None = None,
    states: Mapping[int, PartitionState] | None = None,
) -> Image:
    """A cluster with one topic `t`."""
    made = Image(1, EPOCH, 4)
    made.brokers = {it: broker(it) for it in brokers}
    if replicas is not None:
        assignments = {index: Assignment(tuple(ids)) for index, ids in replicas.items()}
        made.put_topic("t", TOPIC_ID, assignments)
    for index, state in (states or {}).items():
        made.states[TopicPartition("t", index)] = state
    return made


def state(
    leader: int,
    isr: Iterable[int],
    *,
    leader_epoch: int = 3,
    version: int = 7,
    recovery: int = 0,
    controller_epoch: int = EPOCH,
) -> PartitionState:
    return PartitionState(leader, leader_epoch, tuple(isr), controller_epoch, recovery, version)
