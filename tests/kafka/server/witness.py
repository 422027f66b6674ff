"""Somebody who sees into all brokers of a simulated cluster at once, and says what must not be.

Each epoch has one leader, who is in sync; all that are in sync have what is committed; below their
high watermarks all logs are the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

from odradek.kafka.broker.partition import Partition
from odradek.kafka.server.node import BrokerNode
from odradek.kafka.storage.entries import cut
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.lookup import Fetched
from odradek.kafka.storage.reading import Later, read
from odradek.simulation.world import World

TOPIC = "t"
LOOK_S = 0.02


class Violation(AssertionError):
    """Something that must not be was seen."""


class Onlooker(ABC):
    """Looks at partitions, whenever one of them tells that something changed, and now and then."""

    def __init__(self, world: World) -> None:
        self.looks = 0
        self._world = world
        self._seen: Violation | None = None

    def watch(self) -> None:
        """Look from now on, and say what was seen."""
        for partition in self.partitions():
            partition.watchers[self] = None
        self.look()
        self._world.after(LOOK_S, self.watch)
        if self._seen is not None:
            raise self._seen

    def look(self) -> None:
        """Look at all; what is wrong is kept, for who is watched must not stumble over it."""
        self.looks += 1
        try:
            self.check()
        except Violation as violation:
            self._seen = self._seen or violation

    @abstractmethod
    def partitions(self) -> Iterable[Partition]: ...

    @abstractmethod
    def check(self) -> None:
        """Raise a `Violation` if there is one."""

    # What partitions tell: the moments at which something could be wrong.

    def appended(self, count: int) -> None:
        del count  # Nothing can be wrong with it before it is committed.

    def committed(self, count: int) -> None:
        self.look()

    def changed(self) -> None:
        self.look()


class Witness(Onlooker):
    """Looks at all brokers at once, as nobody in the cluster could."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.nodes: dict[int, BrokerNode] = {}
        self._leaders: dict[int, int] = {}  # Who led in each epoch.
        self._committed: dict[int, bytes] = {}  # Batches below some high watermark, by offset.
        self._read: dict[Log, tuple[int, int]] = {}  # How often each was cut, and read up to where.

    def partitions(self) -> Iterable[Partition]:
        return self.replicas().values()

    def replicas(self) -> dict[int, Partition]:
        """The replicas on brokers that run."""
        found = {}
        for broker_id, node in self.nodes.items():
            if self._world.host(f"b{broker_id}").is_running and "broker" in vars(node):
                partition = node.broker.partitions.get(TOPIC, 0)
                if partition is not None:
                    found[broker_id] = partition
        return found

    def forgive(self) -> None:
        """What was committed may be lost from here on: somebody asked for that."""
        self._committed.clear()
        self._read.clear()

    def is_latest_leader(self, broker_id: int) -> bool:
        """Whether it leads in the latest epoch that anybody has led in."""
        return not self._leaders or self._leaders[max(self._leaders)] == broker_id

    def check(self) -> None:
        replicas = self.replicas()
        for broker_id, partition in replicas.items():
            self._check_leader(broker_id, partition)
            self._check_isr(partition, replicas)
            self._check_committed(partition)

    def _check_leader(self, broker_id: int, partition: Partition) -> None:
        leadership = partition.leadership
        if leadership is None:
            return
        known = self._leaders.setdefault(leadership.epoch, broker_id)
        if known != broker_id:
            raise Violation(f"epoch {leadership.epoch} is led by {known} and by {broker_id}")
        if broker_id not in leadership.isr:
            raise Violation(f"{broker_id} leads, but is not in sync: {leadership.isr}")

    def _check_isr(self, partition: Partition, replicas: dict[int, Partition]) -> None:
        """All of the ISR have what is committed."""
        if partition.leadership is None:
            return
        high_watermark = partition.log.high_watermark
        for broker_id in sorted(partition.leadership.isr):
            other = replicas.get(broker_id)
            if other is not None and other.log.end_offset < high_watermark:
                text = f"{broker_id} is in sync and ends at {other.log.end_offset}"
                raise Violation(f"{text}; the high watermark is {high_watermark}")

    def _check_committed(self, partition: Partition) -> None:
        """Below their high watermarks all logs are the same."""
        log = partition.log
        cuts_count, offset = self._read.get(log, (0, 0))
        offset = max(offset if cuts_count == log.cuts_count else 0, log.start_offset)
        for first_offset, data in batches(partition, offset, log.high_watermark):
            if self._committed.setdefault(first_offset, data) != data:
                raise Violation(f"the logs differ at {first_offset}, below a high watermark")
        self._read[log] = log.cuts_count, max(offset, log.high_watermark)


def batches(partition: Partition, offset: int, end: int) -> Iterator[tuple[int, bytes]]:
    """The batches of a log, by their first offsets."""
    while offset < end:
        found = read(partition.log, offset, 1 << 20, end)
        fetched = found.run() if isinstance(found, Later) else found
        assert isinstance(fetched, Fetched)
        if not fetched.data:
            return
        for entry in cut(memoryview(fetched.data)):
            yield entry.head.base_offset, bytes(entry.data)
            offset = entry.head.last_offset + 1
