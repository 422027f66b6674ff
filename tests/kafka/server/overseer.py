"""Somebody who sees into all servers of a simulated cluster at once, and says what must not be.

What ZooKeeper holds is the truth. Each epoch of a partition has one leader, who is in sync. What is
under anybody's high watermark is in the log of everybody who is truly in sync, and there the same.
Batches of one offset and one epoch are the same in all logs, and so are all before them. A
controller that was succeeded writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from odradek.kafka.broker.partition import Partition
from odradek.kafka.controller import paths
from odradek.kafka.controller.image import PartitionState
from odradek.kafka.controller.znodes import read_state
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.batch import Batch
from odradek.zookeeper.state.tree import Tree
from tests.kafka.server.ensembled import SimulatedBrokers
from tests.kafka.server.witness import Onlooker, Violation, batches

CHROOT = "/kafka"


class Overseer(Onlooker):
    """Looks at the partitions of some topics."""

    def __init__(self, cluster: SimulatedBrokers, *topics: str) -> None:
        super().__init__(cluster.world)
        self._cluster = cluster
        self._topics = topics
        self._leaders: dict[tuple[TopicPartition, int], int] = {}  # Who led in each epoch.
        self._committed: dict[tuple[TopicPartition, int], bytes] = {}
        # By offset and epoch: the epoch before, and the batch itself.
        self._written: dict[tuple[TopicPartition, int, int], tuple[int, bytes]] = {}
        self._read: dict[Log, tuple[int, int, int]] = {}  # How often cut; read up to; its epoch.
        self._checked: dict[Log, tuple[int, int]] = {}  # How often cut; compared up to where.
        self._states: dict[TopicPartition, tuple[int, PartitionState]] = {}  # As of which zxid.
        self._is_about_to_look = False
        self._known_zxid = 0  # Of the newest write that some server has served.

    def partitions(self) -> Iterator[Partition]:
        for replicas in self.replicas().values():
            yield from replicas.values()

    def committed(self, count: int) -> None:
        """Look once for all that is told at one moment."""
        if not self._is_about_to_look:
            self._is_about_to_look = True
            self._world.after(0, self.look)

    def changed(self) -> None:
        self.committed(0)

    def check(self) -> None:
        self._is_about_to_look = False
        found, tree = self.replicas(), self.tree
        if tree is not None:
            self._check_controller(tree, found)
        for where, replicas in found.items():
            self._check(where, replicas, self._state(tree, where))

    # What there is

    @property
    def tree(self) -> Tree | None:
        """What ZooKeeper holds, at the server that knows most; None while that one is gone."""
        ensemble = self._cluster.zookeeper
        trees = [ensemble.nodes[it].clients.tree for it in ensemble.ids if ensemble.is_serving(it)]
        newest = max(trees, key=lambda it: it.last_zxid, default=None)
        if newest is None or newest.last_zxid < self._known_zxid:
            return None
        self._known_zxid = newest.last_zxid
        return newest

    def state(self, where: TopicPartition) -> PartitionState | None:
        """The truth about a partition."""
        return self._state(self.tree, where)

    def _state(self, tree: Tree | None, where: TopicPartition) -> PartitionState | None:
        node = None if tree is None else tree.get(CHROOT + paths.state(where))
        if node is None:
            return None
        zxid, state = self._states.get(where, (-1, None))
        if state is None or zxid != node.mzxid:
            state = read_state(node.data or b"", node.version)
            self._states[where] = node.mzxid, state
        return state

    def replicas(self) -> dict[TopicPartition, dict[int, Partition]]:
        """The replicas on brokers that run, by partition and broker."""
        found: dict[TopicPartition, dict[int, Partition]] = {}
        for broker_id, node in self._cluster.running().items():
            if "broker" in vars(node):
                for partition in node.broker.partitions.all():
                    if partition.where.topic in self._topics:
                        found.setdefault(partition.where, {})[broker_id] = partition
        return found

    def is_whole(self) -> bool:
        """Whether one controls, all agree with the truth, and all replicas are in sync."""
        nodes = self._cluster.running()
        everybody = self._cluster.ids
        if tuple(sorted(nodes)) != everybody:
            return False
        if sum(it.broker.controller.is_active for it in nodes.values()) != 1:
            return False
        return all(self._is_agreed(where) for where in self.replicas())

    def _is_agreed(self, where: TopicPartition) -> bool:
        truth = self.state(where)
        if truth is None or set(truth.isr) != set(self._cluster.ids):
            return False
        nodes = self._cluster.running()
        told = [it.broker.metadata.partition(*where) for it in nodes.values()]
        wanted = truth.leader, truth.leader_epoch, truth.isr, truth.version
        leader = nodes[truth.leader].broker.partitions.get(*where)
        return (
            all(
                it is not None
                and (it.leader, it.leader_epoch, tuple(it.isr), it.zk_version) == wanted
                for it in told
            )
            and leader is not None
            and leader.is_leader
            and leader.leader_epoch == truth.leader_epoch
        )

    # What must not be

    def _check_controller(self, tree: Tree, found: Iterable[TopicPartition]) -> None:
        """What was written after an epoch began was not written in an earlier one."""
        epoch = tree.get(CHROOT + paths.CONTROLLER_EPOCH)
        if epoch is None:
            return
        latest = int(epoch.data or b"0")
        for where in found:
            state = self._state(tree, where)
            if state is None or self._states[where][0] < epoch.mzxid:
                continue
            if state.controller_epoch < latest:
                text = f"controller {state.controller_epoch} writes {where}"
                raise Violation(f"{text} in epoch {latest}")

    def _check(
        self,
        where: TopicPartition,
        replicas: dict[int, Partition],
        truth: PartitionState | None,
    ) -> None:
        for broker_id, partition in replicas.items():
            self._check_leader(broker_id, partition)
            if truth is not None:
                check_in_sync(partition, truth, replicas)
            self._check_committed(partition)
            self._check_matching(partition)

    def _check_leader(self, broker_id: int, partition: Partition) -> None:
        leadership = partition.leadership
        if leadership is None:
            return
        known = self._leaders.setdefault((partition.where, leadership.epoch), broker_id)
        if known != broker_id:
            text = f"epoch {leadership.epoch} is led by {known} and by {broker_id}"
            raise Violation(f"{partition.where}: {text}")
        if broker_id not in leadership.isr:
            raise Violation(f"{broker_id} leads, but is not in sync: {leadership.isr}")

    def _check_committed(self, partition: Partition) -> None:
        log, where = partition.log, partition.where
        cuts_count, offset = self._checked.get(log, (0, 0))
        offset = max(offset if cuts_count == log.cuts_count else 0, log.start_offset)
        if offset >= log.high_watermark:
            return
        for first_offset, data in batches(partition, offset, log.high_watermark):
            if self._committed.setdefault((where, first_offset), data) != data:
                text = f"the logs differ at {first_offset}, below a high watermark"
                raise Violation(f"{where}: {text}")
        self._checked[log] = log.cuts_count, max(offset, log.high_watermark)

    def _check_matching(self, partition: Partition) -> None:
        """Of one offset and one epoch there is one batch, and one epoch before it."""
        log, where = partition.log, partition.where
        cuts_count, offset, before = self._read.get(log, (0, 0, -1))
        if cuts_count != log.cuts_count:
            offset, before = 0, -1
        end = log.end_offset
        for first_offset, data in batches(partition, offset, end):
            epoch = Batch(memoryview(data)).leader_epoch
            key = where, first_offset, epoch
            if self._written.setdefault(key, (before, data)) != (before, data):
                raise Violation(f"{where}: epoch {epoch} has two batches at {first_offset}")
            before = epoch
        self._read[log] = log.cuts_count, max(offset, end), before


def check_in_sync(
    partition: Partition, truth: PartitionState, replicas: dict[int, Partition]
) -> None:
    """All that are truly in sync have what is committed."""
    high_watermark = partition.log.high_watermark
    for broker_id in truth.isr:
        other = replicas.get(broker_id)
        if other is not None and other.log.end_offset < high_watermark:
            text = f"{broker_id} is in sync and ends at {other.log.end_offset}"
            raise Violation(f"{partition.where}: {text}; a high watermark is {high_watermark}")
