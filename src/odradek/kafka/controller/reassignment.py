"""Replicas on the move.

1 the topic's znode says who is added and who removed   2 the leader epoch grows, all old and new
replicas hear of it   3 the new ones copy   4 when the whole target is in sync, the leader is moved
into the target if it is not there   5 what is removed leaves the ISR and is deleted   6 the znode
says the target alone. To cancel is to move back to where it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from odradek.kafka.controller import paths
from odradek.kafka.controller.decide import decide_elections
from odradek.kafka.controller.decision import Change, Decision
from odradek.kafka.controller.elections import reassigned_election
from odradek.kafka.controller.image import Assignment, Image
from odradek.kafka.controller.requests import Requests
from odradek.kafka.controller.writes import Set
from odradek.kafka.controller.znodes import write_topic
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode


class Verdict(NamedTuple):
    """Whether replicas may move, and why not."""

    error: ErrorCode = ErrorCode.NONE
    message: str | None = None


DecideOne = Callable[[Image, TopicPartition], Decision]
FINE = Verdict()
UNKNOWN = Verdict(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "The partition does not exist.")


def judge_target(
    image: Image, where: TopicPartition, target: Sequence[int] | None
) -> Assignment | Verdict:
    """The assignment on the way to a target (None: back), or why there can be none."""
    current = image.assignment(where)
    if current is None or image.is_being_deleted(where.topic):
        return UNKNOWN
    if target is None:
        if not current.is_being_reassigned:
            return Verdict(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
        return current.reassigned_to(current.origin)
    if reason := why_not(image, current, target):
        return Verdict(ErrorCode.INVALID_REPLICA_ASSIGNMENT, reason)
    return current.reassigned_to(target)


def why_not(image: Image, current: Assignment, target: Sequence[int]) -> str:
    if not target:
        return "A partition cannot be without replicas."
    if len(set(target)) != len(target):
        return f"A broker is named twice in {list(target)}."
    if min(target) < 0:
        return f"There is a negative id in {list(target)}."
    dead = [it for it in current.reassigned_to(target).adding if it not in image.live_ids()]
    return f"Brokers {dead} are not alive; {image.live_ids()} are." if dead else ""


def write_assignment(image: Image, where: TopicPartition, assignment: Assignment) -> Set:
    """The topic's znode with another assignment of one partition."""
    entry = image.topics[where.topic]
    data = write_topic(entry.id, {**entry.partitions, where.partition: assignment})
    return Set(paths.topic(where.topic), data)


def is_complete(image: Image, where: TopicPartition) -> bool:
    """Whether the whole target is in sync."""
    assignment, state = image.assignment(where), image.states.get(where)
    if assignment is None or state is None:
        return False
    return set(assignment.target) <= set(state.isr)


def decide_started(image: Image, where: TopicPartition) -> Decision:
    """Let old and new replicas know of the move, under a new leader epoch."""
    assignment, state = image.assignment(where), image.states.get(where)
    if assignment is None or state is None:
        return Decision()
    change = Change(
        where,
        state.led_by(state.leader, state.isr),
        assignment.replicas,
        brings_new=assignment.adding,
    )
    return Decision([change])


def decide_moved_leader(image: Image, where: TopicPartition) -> Decision:
    """The image has the final assignment by now: see that somebody in it leads."""
    state, replicas = image.states.get(where), image.replicas(where)
    if state is None:
        return Decision()
    if state.leader in replicas and image.is_online(state.leader, where):
        return Decision([Change(where, state.led_by(state.leader, state.isr), replicas)])
    return decide_elections(image, [where], reassigned_election)[0]


def deleted(where: TopicPartition, removed: Iterable[int]) -> Requests:
    """Have replicas deleted that are out of the ISR."""
    requests = Requests()
    for broker_id in removed:
        requests.stop_replica(broker_id, where, delete=True)
    return requests
