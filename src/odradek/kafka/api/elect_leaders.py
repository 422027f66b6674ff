"""ElectLeaders (key 43, versions 0-2): elect the preferred leader, or, from version 1 on, any.

Without a list all partitions are meant, and those that need no election are not spoken of. The
answer waits until this broker has heard who leads, or the time is up.
"""

from __future__ import annotations

from functools import partial

from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.reign import Reign
from odradek.kafka.controller.reassignment import Verdict
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)

Verdicts = dict[TopicPartition, Verdict]
Leaders = dict[TopicPartition, int]


async def elect_leaders(
    message: ElectLeadersRequest, request: Request, broker: Broker
) -> ElectLeadersResponse:
    wanted = all_wanted(message, broker)
    refusal: Verdicts = dict.fromkeys(wanted, Verdict(ErrorCode.NOT_CONTROLLER))
    work = partial(elect, wanted=wanted, election_type=message.election_type)
    none: Leaders = {}
    verdicts, leaders = await broker.controller.submit("ElectLeaders", work, (refusal, none))
    if message.topic_partitions is None:
        needless = ErrorCode.ELECTION_NOT_NEEDED
        verdicts = {it: verdict for it, verdict in verdicts.items() if verdict.error != needless}
    timeout_s = message.timeout_ms / 1000
    await broker.metadata.until(lambda: is_known(broker, leaders), timeout_s)
    late = [it for it in leaders if not is_known(broker, {it: leaders[it]})]
    return answer(verdicts | dict.fromkeys(late, Verdict(ErrorCode.REQUEST_TIMED_OUT)))


def all_wanted(message: ElectLeadersRequest, broker: Broker) -> list[TopicPartition]:
    if message.topic_partitions is None:
        topics = broker.metadata.topics
        return [TopicPartition(name, index) for name in topics for index in topics[name]]
    return [
        TopicPartition(topic.topic, index)
        for topic in message.topic_partitions
        for index in topic.partitions
    ]


async def elect(
    reign: Reign, wanted: list[TopicPartition], election_type: int
) -> tuple[Verdicts, Leaders]:
    verdicts = await reign.moving.elect(wanted, election_type)
    states = reign.image.states
    elected = [it for it, verdict in verdicts.items() if not verdict.error and it in states]
    return verdicts, {it: states[it].leader for it in elected}


def is_known(broker: Broker, leaders: Leaders) -> bool:
    """Whether this broker has heard of all these leaders."""
    states = ((broker.metadata.partition(*it), leader) for it, leader in leaders.items())
    return all(state is not None and state.leader == leader for state, leader in states)


def answer(verdicts: Verdicts) -> ElectLeadersResponse:
    by_topic: dict[str, list[PartitionResult]] = {}
    for where, verdict in verdicts.items():
        result = PartitionResult(
            partition_id=where.partition,
            error_code=verdict.error,
            error_message=verdict.message,
        )
        by_topic.setdefault(where.topic, []).append(result)
    results = [
        ReplicaElectionResult(topic=topic, partition_result=listed)
        for topic, listed in by_topic.items()
    ]
    return ElectLeadersResponse(
        throttle_time_ms=0, error_code=ErrorCode.NONE, replica_election_results=results
    )
