"""AlterPartition (key 56, versions 0-3): a leader asks the controller for another ISR.

Topics are named until version 1, then given by id; the ISR comes with epochs from version 3 on.
"""

from __future__ import annotations

from functools import partial

from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.reign import Reign
from odradek.kafka.controller import alterations
from odradek.kafka.controller.alterations import Asked
from odradek.kafka.controller.decision import Change, Decision
from odradek.kafka.controller.image import PartitionState
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    AlterPartitionResponsePartitionData,
    AlterPartitionResponseTopicData,
)

Verdicts = dict[TopicPartition, PartitionState | ErrorCode]


async def alter_partition(
    message: AlterPartitionRequest, request: Request, broker: Broker
) -> AlterPartitionResponse:
    work = partial(alter, message=message, version=request.version)
    return await broker.controller.submit("AlterPartition", work, refusal(ErrorCode.NOT_CONTROLLER))


def refusal(error: ErrorCode) -> AlterPartitionResponse:
    return AlterPartitionResponse(throttle_time_ms=0, error_code=error, topics=[])


async def alter(
    reign: Reign, message: AlterPartitionRequest, version: int
) -> AlterPartitionResponse:
    image = reign.image
    if error := alterations.refuse_asker(image, message):
        return refusal(error)
    verdicts: Verdicts = {}
    for asked in all_asked(reign, message, version):
        verdicts[asked.where] = alterations.judge(image, asked, version)
    await write(reign, verdicts)
    for where in verdicts:
        await reign.moving.finish_if_complete(where)
    return answer(reign, message, version, verdicts)


def all_asked(reign: Reign, message: AlterPartitionRequest, version: int) -> list[Asked]:
    found = []
    for topic in message.topics:
        name = alterations.topic_name(reign.image, topic, version)
        for wanted in topic.partitions if name is not None else ():
            state = alterations.asked_state(reign.image, message.broker_id, wanted, version)
            found.append(Asked(TopicPartition(name or "", wanted.partition_index), state))
    return found


async def write(reign: Reign, verdicts: Verdicts) -> None:
    """Write what is new; the verdicts then say what was written."""
    image = reign.image
    changes = [
        Change(where, state, ())
        for where, state in verdicts.items()
        if isinstance(state, PartitionState) and state is not image.states.get(where)
    ]
    decision = Decision(changes)
    # Whoever asked in vain seems to have missed something, so everybody is told how it stands.
    decision.requests.tell_all(verdicts)
    disputed = await reign.office.carry_out(decision)
    for change in changes:
        verdicts[change.where] = image.states[change.where]
    for where in disputed:
        verdicts[where] = ErrorCode.INVALID_UPDATE_VERSION


def answer(
    reign: Reign, message: AlterPartitionRequest, version: int, verdicts: Verdicts
) -> AlterPartitionResponse:
    topics = []
    for topic in message.topics:
        name = alterations.topic_name(reign.image, topic, version)
        partitions = []
        for wanted in topic.partitions:
            index = wanted.partition_index
            verdict: PartitionState | ErrorCode = ErrorCode.UNKNOWN_TOPIC_ID
            if name is not None:
                verdict = verdicts[TopicPartition(name, index)]
            partitions.append(partition_answer(index, verdict))
        topics.append(
            AlterPartitionResponseTopicData(
                topic_name=topic.topic_name, topic_id=topic.topic_id, partitions=partitions
            )
        )
    return AlterPartitionResponse(throttle_time_ms=0, error_code=ErrorCode.NONE, topics=topics)


def partition_answer(
    index: int, verdict: PartitionState | ErrorCode
) -> AlterPartitionResponsePartitionData:
    if isinstance(verdict, ErrorCode):
        return AlterPartitionResponsePartitionData(
            partition_index=index,
            error_code=verdict,
            leader_id=0,
            leader_epoch=0,
            isr=[],
            partition_epoch=0,
        )
    return AlterPartitionResponsePartitionData(
        partition_index=index,
        error_code=ErrorCode.NONE,
        leader_id=verdict.leader,
        leader_epoch=verdict.leader_epoch,
        isr=list(verdict.isr),
        leader_recovery_state=verdict.recovery,
        partition_epoch=verdict.version,
    )
