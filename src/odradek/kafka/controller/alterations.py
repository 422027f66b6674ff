"""AlterPartition: whether a leader may have the ISR that it asks for.

The checks come in the order of Apache's, for a leader acts upon which error it gets: NOT_CONTROLLER
makes it ask again elsewhere, FENCED_LEADER_EPOCH and INVALID_UPDATE_VERSION make it wait for news.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from odradek.kafka.controller.image import RECOVERED, RECOVERING, Image, PartitionState
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartitionData,
    AlterPartitionRequestTopicData,
)

BY_TOPIC_ID = 2  # From this version on topics are asked for by id.
ISR_WITH_EPOCHS = 3


class Asked(NamedTuple):
    """What a leader wants for one partition."""

    where: TopicPartition
    state: PartitionState


def refuse_asker(image: Image, request: AlterPartitionRequest) -> ErrorCode:
    """Why this broker may ask for nothing; NONE if it may."""
    live = image.brokers.get(request.broker_id)
    if live is None or live.epoch != request.broker_epoch:
        return ErrorCode.STALE_BROKER_EPOCH
    return ErrorCode.NONE


def topic_name(image: Image, topic: AlterPartitionRequestTopicData, version: int) -> str | None:
    """The topic's name; None if there is none of this id."""
    return image.names.get(topic.topic_id) if version >= BY_TOPIC_ID else topic.topic_name


def asked_state(
    image: Image, leader: int, wanted: AlterPartitionRequestPartitionData, version: int
) -> PartitionState:
    if version >= ISR_WITH_EPOCHS:
        isr = tuple(it.broker_id for it in wanted.new_isr_with_epochs)
    else:
        isr = tuple(wanted.new_isr)
    return PartitionState(
        leader,
        wanted.leader_epoch,
        isr,
        image.epoch,
        wanted.leader_recovery_state,
        wanted.partition_epoch,
    )


def judge(image: Image, asked: Asked, version: int) -> PartitionState | ErrorCode:
    """An error, or the state to be: if it is the current one, there is nothing to write."""
    known, wanted = image.states.get(asked.where), asked.state
    if known is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if wanted.version > known.version or wanted.leader_epoch > known.leader_epoch:
        return ErrorCode.NOT_CONTROLLER  # Somebody knows more than we do.
    if wanted.leader_epoch < known.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if is_same(wanted, known):
        return known
    if wanted.version < known.version:
        return ErrorCode.INVALID_UPDATE_VERSION
    if wanted.recovery == RECOVERING and (len(wanted.isr) > 1 or known.recovery == RECOVERED):
        return ErrorCode.INVALID_REQUEST
    if not set(wanted.isr) <= set(image.live_ids()):
        is_known = version >= BY_TOPIC_ID
        return ErrorCode.INELIGIBLE_REPLICA if is_known else ErrorCode.OPERATION_NOT_ATTEMPTED
    return wanted


def is_same(wanted: PartitionState, known: PartitionState) -> bool:
    """Whether all is as it should be, though the leader may not know of it yet."""
    as_if = replace(wanted, version=known.version, controller_epoch=known.controller_epoch)
    return as_if == known
