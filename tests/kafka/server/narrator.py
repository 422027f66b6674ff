"""Tells what changes in a simulated cluster: who controls, who leads, who is in sync, what is cut.

It looks often, and tells each change once; a change that was undone between two looks is not told.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from odradek.kafka.controller import paths
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.names import TopicPartition
from tests.kafka.server.ensembled import SimulatedBrokers
from tests.kafka.server.overseer import CHROOT, Overseer

LOOK_S = 0.005
CUTS_S = 0.0002  # A log that is cut soon grows again, and it is told where it ended.


class Narrator:
    """Of some topics."""

    def __init__(self, cluster: SimulatedBrokers) -> None:
        self.topics: list[str] = []
        self._cluster = cluster
        self._told: dict[object, object] = {}
        self._cuts: dict[Log, int] = {}

    def watch(self) -> None:
        self._watch_cluster()
        self._watch_cuts()

    def _watch_cluster(self) -> None:
        self._tell_registrations()
        self._tell_controller()
        overseer = Overseer(self._cluster, *self.topics)
        for where in sorted(overseer.replicas()):
            self._tell_partition(overseer, where)
        self._cluster.world.after(LOOK_S, self._watch_cluster)

    def _watch_cuts(self) -> None:
        self._tell_cuts(Overseer(self._cluster, *self.topics))
        self._cluster.world.after(CUTS_S, self._watch_cuts)

    def _tell(self, what: object, text: str) -> None:
        if self._told.get(what) != text:
            self._told[what] = text
            self._cluster.world.narrate(text)

    def _tell_registrations(self) -> None:
        tree = Overseer(self._cluster).tree
        if tree is None:
            return
        ids = [it for it in self._cluster.ids if tree.get(f"{CHROOT}{paths.broker(it)}")]
        self._tell("registered", f"registered: {listed(ids)}")

    def _tell_controller(self) -> None:
        tree = Overseer(self._cluster).tree
        node = None if tree is None else tree.get(CHROOT + paths.CONTROLLER)
        epoch = None if tree is None else tree.get(CHROOT + paths.CONTROLLER_EPOCH)
        if node is None or epoch is None or node.data is None or epoch.mzxid < node.czxid:
            return
        broker_id = json.loads(node.data)["brokerid"]
        assert epoch.data is not None
        self._tell("controller", f"{broker_id} controls in epoch {epoch.data.decode()}")

    def _tell_partition(self, overseer: Overseer, where: TopicPartition) -> None:
        state = overseer.state(where)
        if state is not None:
            leader = f"led by {state.leader}" if state.leader >= 0 else "led by nobody"
            text = f"{where} {leader} in epoch {state.leader_epoch}, in sync: {listed(state.isr)}"
            self._tell(where, text)

    def _tell_cuts(self, overseer: Overseer) -> None:
        for where, replicas in sorted(overseer.replicas().items()):
            for broker_id, partition in replicas.items():
                log = partition.log
                if self._cuts.get(log, 0) != log.cuts_count:
                    self._cuts[log] = log.cuts_count
                    text = f"{broker_id} cuts {where}, it ends at {log.end_offset}"
                    self._cluster.world.narrate(text)


def listed(ids: Iterable[int]) -> str:
    return " ".join(map(str, ids)) or "nobody"
