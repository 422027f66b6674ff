"""Who is in sync: what leaders on this broker want to change, and the controller writes down.

Wishes of many partitions go in one request, and one request is under way at a time. If there is no
answer, or the controller is not the one, they are sent again; what the controller says of a
partition ends its wish, unless that is an error that passes.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from odradek.kafka.broker.channel import ControllerChannel
from odradek.kafka.broker.partition import Partition
from odradek.kafka.broker.peers import PeerLost
from odradek.kafka.replication.leader import Leadership
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartitionData,
    AlterPartitionRequestTopicData,
    AlterPartitionResponse,
    AlterPartitionResponsePartitionData,
    BrokerState,
)
from odradek.kafka.wire.schema import ZERO_UUID
from odradek.runtime.logs import NodeLog

if TYPE_CHECKING:
    from odradek.kafka.broker.broker import Broker

BY_NAME, BY_ID = 1, 3  # The versions for topics without and with ids.
PAUSE_S = 0.05
SLICE = 256  # Partitions a turn.
# The controller will not have it: what was, is.
REFUSED = (ErrorCode.INELIGIBLE_REPLICA, ErrorCode.OPERATION_NOT_ATTEMPTED)
# We have missed something, and the controller is about to tell us: until then nothing is asked.
OVERTAKEN = (
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.INVALID_UPDATE_VERSION,
    ErrorCode.INVALID_REQUEST,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.UNKNOWN_TOPIC_ID,
)


class Wish(NamedTuple):
    """What one leader has asked for."""

    partition: Partition
    leadership: Leadership
    isr: frozenset[int]

    @property
    def is_open(self) -> bool:
        """Whether it is still wished: the controller may have spoken, and more been asked since."""
        leadership = self.leadership
        return self.partition.leadership is leadership and leadership.asked_isr is self.isr

    def counts(self, data: AlterPartitionResponsePartitionData) -> bool:
        """Whether an answer says something new: to what is wished, or of what was written."""
        if self.is_open:
            return True
        is_led = self.partition.leadership is self.leadership
        is_newer = data.partition_epoch > self.partition.partition_epoch
        return is_led and not data.error_code and is_newer


Wishes = dict[TopicPartition, Wish]


class InSync:
    """The wishes of one broker's leaders."""

    def __init__(self, broker: Broker, channel: ControllerChannel, note: NodeLog) -> None:
        self._broker = broker
        self._channel = channel
        self._note = note
        self._wishes: Wishes = {}
        self._is_wished = asyncio.Event()
        self._trouble = ""  # Why the controller does not answer, said once.

    def start(self) -> None:
        self._broker.tasks.start("in-sync replicas", self.run())
        self._broker.tasks.start("laggards", self.watch())

    def ask(self, partition: Partition) -> None:
        """A leader has asked for another ISR."""
        leadership = partition.leadership
        assert leadership is not None and leadership.asked_isr is not None
        self._wishes[partition.where] = Wish(partition, leadership, leadership.asked_isr)
        self._is_wished.set()

    # Those who fall behind

    async def watch(self) -> None:
        """Look for laggards, twice in the time that they have."""
        while True:
            await asyncio.sleep(self._broker.settings.replica_lag_time_max_ms / 2000)
            for number, partition in enumerate(list(self._broker.partitions.all()), 1):
                if late := partition.drop_laggards():
                    self._note.info("%s: %s are out of sync", partition.where, sorted(late))
                if number % SLICE == 0:
                    await asyncio.sleep(0)

    # Asking the controller

    async def run(self) -> None:
        while True:
            await self._is_wished.wait()
            self._is_wished.clear()
            self._wishes = {w: it for w, it in self._wishes.items() if it.is_open}
            by_id = {w: it for w, it in self._wishes.items() if it.partition.topic_id != ZERO_UUID}
            by_name = {w: it for w, it in self._wishes.items() if w not in by_id}
            is_done = True
            for wishes, version in ((by_id, BY_ID), (by_name, BY_NAME)):
                if wishes:
                    is_done &= await self._send(wishes, version)
            if not is_done:
                self._is_wished.set()
                await asyncio.sleep(PAUSE_S)

    async def _send(self, wishes: Wishes, version: int) -> bool:
        """Whether all is answered."""
        try:
            answer = await self._channel.ask(self._request(wishes, version), version)
        except PeerLost as error:
            return self._unanswered(str(error))
        assert isinstance(answer, AlterPartitionResponse)
        if answer.error_code:
            return self._unanswered(ErrorCode(answer.error_code).name)
        self._trouble = ""
        is_done = True
        for topic in answer.topics:
            name = topic.topic_name or self._broker.partitions.topic_name(topic.topic_id)
            for data in topic.partitions:
                wish = wishes.get(TopicPartition(name or "", data.partition_index))
                if wish is not None and wish.counts(data):
                    is_done &= self._take(wish, data)
        return is_done

    def _unanswered(self, reason: str) -> bool:
        if reason != self._trouble:
            self._note.info("the controller does not write down who is in sync: %s", reason)
        self._trouble = reason
        return False

    def _request(self, wishes: Wishes, version: int) -> AlterPartitionRequest:
        topics: dict[str, AlterPartitionRequestTopicData] = {}
        for where, (partition, leadership, wanted) in wishes.items():
            topic = topics.setdefault(
                where.topic,
                AlterPartitionRequestTopicData(
                    topic_name=where.topic, topic_id=partition.topic_id, partitions=[]
                ),
            )
            isr = [it for it in partition.replicas if it in wanted]
            states = [BrokerState(broker_id=it) for it in isr]
            topic.partitions.append(
                AlterPartitionRequestPartitionData(
                    partition_index=where.partition,
                    leader_epoch=leadership.epoch,
                    new_isr=isr if version < BY_ID else [],
                    new_isr_with_epochs=states if version >= BY_ID else [],
                    partition_epoch=partition.partition_epoch,
                )
            )
        epoch = self._broker.keeper.epoch
        return AlterPartitionRequest(
            broker_id=self._broker.id, broker_epoch=epoch, topics=list(topics.values())
        )

    def _take(self, wish: Wish, data: AlterPartitionResponsePartitionData) -> bool:
        """Do what the controller says of one partition; False if it is to be asked again."""
        partition, leadership, _ = wish
        error, meters = ErrorCode(data.error_code), self._broker.meters
        if error is not ErrorCode.NONE:
            meters.failed_isr_updates += 1
            self._note.info("%s keeps its ISR: %s", partition.where, error.name)
        elif data.leader_epoch == leadership.epoch:
            meters.isr_expands += len(data.isr) > len(leadership.isr)
            meters.isr_shrinks += len(data.isr) < len(leadership.isr)
            self._note.info("%s: %s are in sync", partition.where, data.isr)
            partition.confirm_isr(data.isr, data.partition_epoch)
        if error in REFUSED:
            leadership.give_up()
        elif error is not ErrorCode.NONE and error not in OVERTAKEN:
            return False
        self._wishes.pop(partition.where, None)
        return True
