"""The partitions of an internal topic that this broker leads: each is a shard of a coordinator.

A shard is made when this broker begins to lead its partition, and loaded from the log before it
answers; it is closed when another leads. A log that cannot be read leaves its shard loading, and
clients waiting: serving half of what was promised would be worse.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterable
from typing import Generic, TypeVar

from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.partition import Partition
from odradek.kafka.broker.shards_clock import Alarm, Clock
from odradek.kafka.broker.shards_line import Line
from odradek.kafka.coordinator.group_partitions import partition_for
from odradek.kafka.storage.entries import cut
from odradek.kafka.storage.errors import DISK_TROUBLE
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.lookup import Fetched
from odradek.kafka.storage.reading import read
from odradek.kafka.storage.refusal import Refusal
from odradek.kafka.wire.batch import Batch
from odradek.kafka.wire.batch_writer import Envelope
from odradek.kafka.wire.conversion import up_convert
from odradek.runtime.errors import ProtocolError

SLICE_BYTES = 64 << 10  # As much as is taken apart before the loop is left to others.


class ShardShell(ABC):
    """One shard, its partition, its appends and its alarm."""

    def __init__(self, broker: Broker, partition: Partition, clock: Clock, load_bytes: int) -> None:
        self.partition = partition
        self.load_bytes = load_bytes  # As much as is read at once.
        self.is_closed = False
        self.loading_s = 0.0  # How long it took.
        self._broker = broker
        self._clock = clock
        self._line = Line(broker, partition)
        self._alarm = Alarm(clock, broker.tasks.guard(f"{partition.where}", self.tick))

    @abstractmethod
    def take(self, batch: Batch) -> None:
        """Apply a batch of the log."""

    @abstractmethod
    def begin(self) -> None:
        """All is applied: serve."""

    @abstractmethod
    def tick(self) -> None:
        """Do what has become due."""

    @abstractmethod
    def unload(self) -> None:
        """Tell those who wait that another coordinates now."""

    def close(self) -> None:
        self.is_closed = True
        self.unload()
        self._line.close()  # Now, for the shard itself waits for none of them any more.
        self._alarm.cancel()

    async def load(self) -> None:
        """Read the log to its end, then serve."""
        note, where, loop = self._broker.note, self.partition.where, self._clock.loop
        begun_s = loop.time()
        try:
            async for batch in batches_of(self.partition, self.load_bytes):
                if self.is_closed:
                    return
                self.take(batch)
        except ProtocolError as error:
            note.error("%s cannot be loaded, its coordinator does not serve: %s", where, error)
            return
        except DISK_TROUBLE as error:
            self._broker.partitions.disk_failed(self.partition, error)
            return
        self.loading_s = loop.time() - begun_s
        if not self.is_closed:
            self.begin()


async def batches_of(partition: Partition, bytes_max: int) -> AsyncIterator[Batch]:
    """All batches of a log; it may grow meanwhile."""
    offset, taken_bytes = partition.log.start_offset, 0
    while partition.is_leader and offset < partition.log.end_offset:
        log = partition.log  # Another may have taken its place, from another directory.
        fetched = await read_some(log, max(offset, log.start_offset), bytes_max)
        if fetched is None:
            continue
        if not fetched.data:
            return
        for batch in batches_in(memoryview(fetched.data)):
            yield batch
            taken_bytes += len(batch.data)
            if taken_bytes > SLICE_BYTES:
                taken_bytes = 0
                await asyncio.sleep(0)
        offset = fetched.next_offset


async def read_some(log: Log, offset: int, bytes_max: int) -> Fetched | None:
    """Some batches, read in another thread if need be; None if the log must be asked again."""
    found = read(log, offset, bytes_max, log.end_offset)
    assert not isinstance(found, Refusal)
    if isinstance(found, Fetched):
        return found
    try:
        fetched = await asyncio.get_running_loop().run_in_executor(None, found.run)
    except FileNotFoundError:
        return None  # Other files have taken the place of these.
    return None if found.is_outdated else fetched


def batches_in(data: memoryview) -> Iterable[Batch]:
    """What is of an old format comes as a batch too."""
    for entry in cut(data):
        batch = entry.batch()
        if batch is None:
            envelope = Envelope(base_offset=entry.head.base_offset)
            batch = Batch(memoryview(up_convert(entry.data, envelope)))
        yield batch


Shell = TypeVar("Shell", bound=ShardShell)


class Shards(ABC, Generic[Shell]):
    """All shards of one kind that this broker has."""

    def __init__(self, broker: Broker, clock: Clock, topic: str) -> None:
        self.topic = topic
        self.here: dict[int, Shell] = {}
        self._broker = broker
        self._clock = clock

    @abstractmethod
    def make(self, partition: Partition) -> Shell: ...

    def partition_of(self, id_: str) -> int | None:
        """Which partition an id lives in; None as long as nobody knows how many there are."""
        count = len(self._broker.metadata.topics.get(self.topic, ()))
        return partition_for(id_, count) if count else None

    def find(self, id_: str) -> Shell | None:
        """The shard that holds an id, if it is here."""
        partition = self.partition_of(id_)
        return None if partition is None else self.here.get(partition)

    def leading_changed(self, partition: Partition) -> None:
        """This broker leads a partition, or does no longer.

        Who goes on to lead under a new epoch goes on to coordinate, as Kafka's does.
        """
        index = partition.where.partition
        known = self.here.get(index)
        if known is not None and (known.partition is not partition or not partition.is_leader):
            del self.here[index]
            known.close()
            known = None
        if known is None and partition.is_leader:
            made = self.here[index] = self.make(partition)
            self._broker.tasks.start(f"load {partition.where}", made.load(), may_end=True)

    def close(self) -> None:
        """The broker stops: nobody is answered any more."""
        for shell in self.here.values():
            shell.close()
        self.here.clear()
