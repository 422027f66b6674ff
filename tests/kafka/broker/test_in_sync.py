"""What leaders want of the controller, and what they do with its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from odradek.kafka.broker.channel import ControllerChannel
from odradek.kafka.broker.in_sync import InSync
from odradek.kafka.broker.metadata import KnownBroker
from odradek.kafka.broker.partition import Partition
from odradek.kafka.broker.peers import PeerLost
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    AlterPartitionResponsePartitionData,
    AlterPartitionResponseTopicData,
)
from odradek.kafka.wire.schema import Message
from tests.kafka.broker.asking import put
from tests.kafka.broker.coordinated import until
from tests.kafka.broker.served import BROKER_ID, Served, carried, serving

FOLLOWER = 2
REPLICAS = (BROKER_ID, FOLLOWER)


class Controller:
    """Writes down what it is asked for, or answers what a test wants."""

    def __init__(self) -> None:
        self.asked: list[AlterPartitionRequest] = []
        self.errors: list[ErrorCode | None] = []  # For the next requests; None: no answer.
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def serve(self, message: Message, version: int) -> Message:
        assert isinstance(message, AlterPartitionRequest)
        message = carried(message, version)
        self.asked.append(message)
        error = self.errors.pop(0) if self.errors else ErrorCode.NONE
        await self.may_answer.wait()
        if error is None:
            raise PeerLost("it is gone")
        return carried(answer_to(message, error), version)


def answer_to(message: AlterPartitionRequest, error: ErrorCode) -> AlterPartitionResponse:
    topics = [
        AlterPartitionResponseTopicData(
            topic_id=topic.topic_id,
            partitions=[
                AlterPartitionResponsePartitionData(
                    partition_index=it.partition_index,
                    error_code=error,
                    leader_id=BROKER_ID,
                    leader_epoch=it.leader_epoch,
                    isr=[each.broker_id for each in it.new_isr_with_epochs],
                    partition_epoch=it.partition_epoch + 1,
                )
                for it in topic.partitions
            ],
        )
        for topic in message.topics
    ]
    return AlterPartitionResponse(throttle_time_ms=0, error_code=0, topics=topics)


Story = Callable[[Served, Controller], Awaitable[None]]


def told(tmp_path: Path, story: Story, **settings: object) -> None:
    """Tell a story of a leader, a follower that lives, and a controller."""

    async def tell() -> None:
        async with serving(tmp_path, settings) as served:
            controller, broker = Controller(), served.broker
            broker.keeper = cast(Any, SimpleNamespace(epoch=77))
            broker.metadata.controller_id = BROKER_ID
            broker.metadata.brokers = {it: KnownBroker(it, {}, None) for it in REPLICAS}
            channel = ControllerChannel(BROKER_ID, broker.metadata, lambda: broker.settings)
            channel.serve_own = controller.serve
            in_sync = InSync(broker, channel, broker.note)
            broker.partitions._surroundings.isr_wanted = in_sync.ask
            in_sync.start()
            await story(served, controller)

    asyncio.run(tell())


def fetched(served: Served, partition: Partition, offset: int | None = None) -> None:
    """The follower fetches, by default at the end."""
    at = partition.log.end_offset if offset is None else offset
    assert partition.fetched_by(FOLLOWER, at, 0, served.broker.clock())


def test_one_that_has_caught_up_is_taken_in(tmp_path: Path) -> None:
    async def story(served: Served, controller: Controller) -> None:
        partition = served.lead(epoch=4, replicas=REPLICAS, isr=(BROKER_ID,))
        await put(served, b"1", acks=1)
        fetched(served, partition, 0)
        assert not controller.asked
        fetched(served, partition)
        await until(lambda: partition.isr == REPLICAS)
        (request,) = controller.asked
        (wanted,) = request.topics[0].partitions
        assert (request.broker_id, request.broker_epoch) == (BROKER_ID, 77)
        assert (wanted.leader_epoch, wanted.partition_epoch) == (4, 4)
        assert partition.partition_epoch == 5
        assert served.broker.meters.isr_expands == 1

    told(tmp_path, story)


def test_what_is_asked_counts_at_once(tmp_path: Path) -> None:
    async def story(served: Served, controller: Controller) -> None:
        controller.may_answer.clear()
        partition = served.lead(replicas=REPLICAS, isr=(BROKER_ID,))
        fetched(served, partition)
        await put(served, b"1", acks=1)
        assert partition.log.high_watermark == 0  # It may be in sync already, for all we know.
        fetched(served, partition)
        assert partition.log.high_watermark == 1
        controller.may_answer.set()
        await until(lambda: partition.isr == REPLICAS)

    told(tmp_path, story)


def test_one_that_lags_is_dropped_and_then_does_not_count(tmp_path: Path) -> None:
    async def story(served: Served, controller: Controller) -> None:
        partition = served.lead(replicas=REPLICAS)
        await put(served, b"1", acks=1)
        assert partition.log.high_watermark == 0
        await until(lambda: partition.isr == (BROKER_ID,))
        assert partition.log.high_watermark == 1
        assert served.broker.meters.isr_shrinks == 1

    told(tmp_path, story, replica_lag_time_max_ms=100, replica_fetch_wait_max_ms=50)


def test_many_wishes_go_in_one_request(tmp_path: Path) -> None:
    async def story(served: Served, controller: Controller) -> None:
        partitions = [
            served.lead(index=index, replicas=REPLICAS, isr=(BROKER_ID,)) for index in range(3)
        ]
        for each in partitions:
            fetched(served, each)
        await until(lambda: all(it.isr == REPLICAS for it in partitions))
        (request,) = controller.asked
        assert [it.partition_index for it in request.topics[0].partitions] == [0, 1, 2]

    told(tmp_path, story)


@pytest.mark.parametrize("error", [None, ErrorCode.UNKNOWN_SERVER_ERROR])
def test_without_an_answer_that_counts_it_is_asked_again(
    tmp_path: Path, error: ErrorCode | None
) -> None:
    async def story(served: Served, controller: Controller) -> None:
        controller.errors = [error, error]
        partition = served.lead(replicas=REPLICAS, isr=(BROKER_ID,))
        fetched(served, partition)
        await until(lambda: partition.isr == REPLICAS)
        assert len(controller.asked) == 3

    told(tmp_path, story)


def test_what_is_refused_may_be_asked_anew(tmp_path: Path) -> None:
    async def story(served: Served, controller: Controller) -> None:
        controller.errors = [ErrorCode.INELIGIBLE_REPLICA]
        partition = served.lead(replicas=REPLICAS, isr=(BROKER_ID,))
        leadership = partition.leadership
        assert leadership is not None
        fetched(served, partition)
        await until(lambda: leadership.asked_isr is None)
        assert partition.isr == (BROKER_ID,)
        fetched(served, partition)
        await until(lambda: partition.isr == REPLICAS)

    told(tmp_path, story)


def test_who_was_overtaken_asks_for_nothing_until_the_controller_speaks(tmp_path: Path) -> None:
    async def story(served: Served, controller: Controller) -> None:
        controller.errors = [ErrorCode.INVALID_UPDATE_VERSION]
        partition = served.lead(replicas=REPLICAS, isr=(BROKER_ID,))
        fetched(served, partition)
        await until(lambda: served.broker.meters.failed_isr_updates == 1)
        fetched(served, partition)
        await asyncio.sleep(0.1)
        assert len(controller.asked) == 1
        served.lead(epoch=1, replicas=REPLICAS, isr=(BROKER_ID,))
        fetched(served, partition)
        await until(lambda: partition.isr == REPLICAS)

    told(tmp_path, story)


def test_what_the_controller_says_again_does_not_void_what_is_asked(tmp_path: Path) -> None:
    """A new controller tells everybody how things stand, and then answers what was asked."""

    async def story(served: Served, controller: Controller) -> None:
        controller.may_answer.clear()
        partition = served.lead(replicas=REPLICAS, isr=(BROKER_ID,))
        fetched(served, partition)
        await until(lambda: len(controller.asked) == 1)
        served.lead(replicas=REPLICAS, isr=(BROKER_ID,))
        await put(served, b"1", acks=1)
        assert partition.log.high_watermark == 0
        controller.may_answer.set()
        await until(lambda: partition.isr == REPLICAS)

    told(tmp_path, story)
