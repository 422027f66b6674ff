"""Who is to lead.

Offline          the first assigned replica that is live and in sync; if there is none and the topic
                 allows it, the first that is live: then what the others had is lost
Preferred        the first assigned replica, if it is live and in sync
Reassignment     the first of the target that is live and in sync
Shutdown         the first assigned replica that is in sync and on no broker that is about to stop
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from odradek.kafka.controller.image import RECOVERING, Image, PartitionState, without
from odradek.kafka.storage.names import TopicPartition


class Elected(NamedTuple):
    """The new state, and the replicas that must hear of it."""

    state: PartitionState
    recipients: tuple[int, ...]


Election = Callable[[Image, TopicPartition, PartitionState], Elected | None]


def online(image: Image, where: TopicPartition, ids: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(it for it in ids if image.is_online(it, where))


def offline_election(*, is_unclean: bool, marks_recovery: bool = True) -> Election:
    """For a partition without a leader."""

    def elect(image: Image, where: TopicPartition, state: PartitionState) -> Elected | None:
        live = online(image, where, image.replicas(where))
        for broker_id in live:
            if broker_id in state.isr:
                return Elected(state.led_by(broker_id, online(image, where, state.isr)), live)
        if not is_unclean or not live:
            return None
        recovery = RECOVERING if marks_recovery else None
        return Elected(state.led_by(live[0], live[:1], recovery), live)

    return elect


def preferred_election(
    image: Image, where: TopicPartition, state: PartitionState
) -> Elected | None:
    replicas = image.replicas(where)
    first = replicas[0]
    if first not in state.isr or not image.is_online(first, where):
        return None
    return Elected(state.led_by(first, state.isr), replicas)


def reassigned_election(
    image: Image, where: TopicPartition, state: PartitionState
) -> Elected | None:
    assignment = image.assignment(where)
    target = assignment.target if assignment else ()
    for broker_id in online(image, where, target):
        if broker_id in state.isr:
            return Elected(state.led_by(broker_id, state.isr), target)
    return None


def shutdown_election(image: Image, where: TopicPartition, state: PartitionState) -> Elected | None:
    replicas = image.replicas(where)
    live = tuple(it for it in replicas if image.is_online(it, where, even_if_shutting_down=True))
    for broker_id in without(live, image.shutting_down):
        if broker_id in state.isr:
            return Elected(state.led_by(broker_id, without(state.isr, image.shutting_down)), live)
    return None
