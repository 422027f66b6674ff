"""What is decided: states of partitions to write, and whom to tell once they are written.

A decision is a value. The shell writes it, under the controller's epoch; what was written is put
into the image by `apply_change`, and only that is told to brokers.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from odradek.kafka.controller import paths
from odradek.kafka.controller.image import Image, PartitionState
from odradek.kafka.controller.requests import Requests
from odradek.kafka.controller.writes import Create, Group, Set
from odradek.kafka.controller.znodes import write_state
from odradek.kafka.storage.names import TopicPartition


class Change(NamedTuple):
    """A new state of a partition; `version` of a state that exists is the one to replace."""

    where: TopicPartition
    state: PartitionState
    recipients: tuple[int, ...]
    is_first: bool = False
    brings_new: tuple[int, ...] = ()  # Recipients whose replica is new.


@dataclass(slots=True)
class Decision:
    """States to write, other writes, and requests that depend on neither."""

    changes: list[Change] = field(default_factory=list)
    writes: list[Group] = field(default_factory=list)
    requests: Requests = field(default_factory=Requests)


def group_of(change: Change, epoch: int, *, is_first_of_topic: bool) -> Group:
    """How a change is written; the first of a topic makes room for all."""
    data = write_state(replace(change.state, controller_epoch=epoch))
    path = paths.state(change.where)
    if not change.is_first:
        return (Set(path, data, change.state.version),)
    made: Group = (
        Create(paths.partition(change.where), None, may_exist=True),
        Create(path, data),
    )
    if is_first_of_topic:
        return (Create(paths.partitions(change.where.topic), None, may_exist=True), *made)
    return made


def groups_of(decision: Decision, image: Image) -> list[Group]:
    """All that a decision writes: first the changes, one group each, then the rest."""
    groups: list[Group] = []
    has_room: dict[str, bool] = {}
    for change in decision.changes:
        topic = change.where.topic
        if change.is_first and topic not in has_room:
            has_room[topic] = any(it in image.states for it in image.partitions(topic))
        is_first_of_topic = not has_room.get(topic, True)
        groups.append(group_of(change, image.epoch, is_first_of_topic=is_first_of_topic))
        has_room[topic] = True
    return groups + decision.writes


def apply_change(image: Image, change: Change, version: int, requests: Requests) -> None:
    """Take a state that is written, and have those told who must know."""
    where = change.where
    image.states[where] = replace(change.state, controller_epoch=image.epoch, version=version)
    if image.is_being_deleted(where.topic):
        return
    new = frozenset(change.brings_new)
    for is_new in (False, True):
        told = [it for it in change.recipients if (it in new) is is_new]
        requests.lead_or_follow(told, where, is_new=is_new)
