"""What the console knows of a cluster, and what happened when that changes; pure.

ZooKeeper's znodes are seen one by one, each with what it holds now, or None if it is gone. What is
seen for the first time while `is_quiet` is how things are, and no event. A change that was
missed (the console was away) shows when its znode is seen again, as one event for all of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sized
from dataclasses import dataclass, field
from typing import NamedTuple

from odradek.console.events import Event, Kind
from odradek.kafka.controller import paths
from odradek.kafka.controller.image import PartitionState
from odradek.kafka.controller.registration import read_registration
from odradek.kafka.controller.znodes import (
    BadZnode,
    TopicNode,
    read_controller,
    read_state,
    read_topic,
)
from odradek.kafka.storage.names import TopicPartition

STATE = re.compile(r"/brokers/topics/([^/]+)/partitions/(\d+)/state")
TOPIC = re.compile(r"/brokers/topics/([^/]+)")
BROKER = re.compile(r"/brokers/ids/(\d+)")
DOOMED = re.compile(r"/admin/delete_topics/([^/]+)")
CONFIG = re.compile(r"/config/(topics|brokers|users|clients|ips)/(.+)")
NOBODY = -1


class Node(NamedTuple):
    """A znode as it was read."""

    data: bytes
    time_ms: int  # When it was written last.
    zxid: int  # Of that write.
    version: int = 0
    owner: int = 0  # The session that it will end with.
    created_zxid: int = 0


class Broker(NamedTuple):
    """A broker that is registered."""

    endpoint: str
    rack: str | None
    session: int
    epoch: int  # The zxid of its registration.


@dataclass(slots=True)
class Sights:
    """The cluster as ZooKeeper shows it."""

    controller: int | None = None
    controller_epoch: int | None = None
    brokers: dict[int, Broker] = field(default_factory=dict)
    topics: dict[str, TopicNode] = field(default_factory=dict)
    states: dict[TopicPartition, PartitionState] = field(default_factory=dict)
    doomed: set[str] = field(default_factory=set)
    configs: dict[str, int] = field(default_factory=dict)  # Path to the zxid of the last change.
    moves: bool = False
    is_quiet: bool = True
    version: int = 0  # Grows with each change: pages look at it.

    def see(self, path: str, node: Node | None, now_ms: int, zxid: int = 0) -> list[Event]:
        """Take in what a znode holds now; say what that means. `zxid`: when it went, if known."""
        for pattern, look in LOOKS:
            if match := pattern.fullmatch(path):
                try:
                    events = look(self, Sight(path, match, node, now_ms, max(zxid, 0)))
                except BadZnode:
                    return []  # What somebody else wrote there is not ours to judge.
                self.version += 1
                return [] if self.is_quiet else events
        return []

    def summary(self) -> str:
        """The cluster in a few words."""
        controller = "nobody" if self.controller is None else f"broker {self.controller}"
        counts = f"{counted(self.brokers, 'broker')}, {counted(self.topics, 'topic')}"
        return f"{counts}, controller {controller} in epoch {self.controller_epoch}"

    def short(self) -> list[TopicPartition]:
        """Partitions of which not all replicas are in sync."""
        return sorted(
            it for it, state in self.states.items() if len(state.isr) < self.replicas_of(it)
        )

    def leaderless(self) -> list[TopicPartition]:
        return sorted(it for it, state in self.states.items() if state.leader == NOBODY)

    def replicas_of(self, partition: TopicPartition) -> int:
        topic = self.topics.get(partition.topic)
        assignment = topic.partitions.get(partition.partition) if topic else None
        return len(assignment.replicas) if assignment else 0


@dataclass(frozen=True, slots=True)
class Sight:
    """One znode, seen."""

    path: str
    match: re.Match[str]
    node: Node | None
    now_ms: int
    gone_zxid: int

    def event(self, kind: Kind, text: str, topic: str = "", partition: int = -1) -> Event:
        time_ms = self.node.time_ms if self.node else self.now_ms
        zxid = self.node.zxid if self.node else self.gone_zxid
        return Event(time_ms, kind, text, self.path, topic, partition, zxid=zxid)


def see_controller(sights: Sights, sight: Sight) -> list[Event]:
    before = sights.controller
    sights.controller = read_controller(sight.node.data) if sight.node else None
    if sights.controller == before:
        return []
    if sights.controller is None:
        return [sight.event(Kind.EXPIRY, f"broker {before} is controller no more")]
    return [sight.event(Kind.ELECTION, f"broker {sights.controller} is elected controller")]


def see_controller_epoch(sights: Sights, sight: Sight) -> list[Event]:
    if sight.node is None or not sight.node.data.isdigit():
        return []
    before, sights.controller_epoch = sights.controller_epoch, int(sight.node.data)
    if sights.controller_epoch == before:
        return []
    return [sight.event(Kind.EPOCH, f"controller epoch {sights.controller_epoch} begins")]


def see_broker(sights: Sights, sight: Sight) -> list[Event]:
    number = int(sight.match[1])
    before = sights.brokers.pop(number, None)
    if sight.node is None:
        if before is None:
            return []
        text = f"broker {number} is gone: its session {before.session:#x} has ended"
        return [sight.event(Kind.EXPIRY, text)]
    seen = read_registration(number, sight.node.data)
    endpoint = f"{seen.endpoints[0].host}:{seen.endpoints[0].port}" if seen.endpoints else "?"
    after = Broker(endpoint, seen.rack, sight.node.owner, sight.node.created_zxid)
    sights.brokers[number] = after
    if before is not None and before.epoch == after.epoch:
        return []
    text = f"broker {number} registers at {endpoint} in session {after.session:#x}"
    return [sight.event(Kind.REGISTRATION, text)]


def see_topic(sights: Sights, sight: Sight) -> list[Event]:
    name = sight.match[1]
    before = sights.topics.pop(name, None)
    if sight.node is None:
        forgotten = [it for it in sights.states if it.topic == name]
        for it in forgotten:
            del sights.states[it]
        return [sight.event(Kind.TOPIC, f"topic {name} is deleted", name)] if before else []
    after = sights.topics[name] = read_topic(sight.node.data)
    if before is None or before.topic_id != after.topic_id:
        text = f"topic {name} is created, {counted(after.partitions, 'partition')}"
        return [sight.event(Kind.TOPIC, text, name)]
    return topic_changes(sight, name, before, after)


def topic_changes(sight: Sight, name: str, before: TopicNode, after: TopicNode) -> list[Event]:
    events = []
    if len(after.partitions) > len(before.partitions):
        text = f"topic {name} grows to {len(after.partitions)} partitions"
        events.append(sight.event(Kind.TOPIC, text, name))
    moved = [
        (index, it)
        for index, it in after.partitions.items()
        if index in before.partitions and it != before.partitions[index]
    ]
    for index, it in moved:
        is_under_way = it.adding or it.removing
        doing = "moves" if is_under_way else "is assigned"
        wanted = [one for one in it.replicas if one not in it.removing]
        text = f"{name}-{index} {doing} to {listed(wanted)}"
        events.append(sight.event(Kind.REASSIGNMENT, text, name, index))
    return events


def see_state(sights: Sights, sight: Sight) -> list[Event]:
    where = TopicPartition(sight.match[1], int(sight.match[2]))
    before = sights.states.pop(where, None)
    if sight.node is None:
        return []  # The topic's own znode tells of its end.
    after = sights.states[where] = read_state(sight.node.data, sight.node.version)
    if before is None:
        return []
    return [
        sight.event(kind, text, *where)
        for kind, text in (leader_change(where, before, after), isr_change(where, before, after))
        if text
    ]


def leader_change(
    where: TopicPartition, before: PartitionState, after: PartitionState
) -> tuple[Kind, str]:
    if (before.leader, before.leader_epoch) == (after.leader, after.leader_epoch):
        return Kind.LEADER, ""
    if after.leader == NOBODY:
        return Kind.LEADER, f"{where} has no leader"
    if before.leader == after.leader:
        return Kind.LEADER, f"{where}: {after.leader} leads on, in epoch {after.leader_epoch}"
    was = "nobody" if before.leader == NOBODY else str(before.leader)
    return Kind.LEADER, f"{where}: {after.leader} leads after {was}, in epoch {after.leader_epoch}"


def isr_change(
    where: TopicPartition, before: PartitionState, after: PartitionState
) -> tuple[Kind, str]:
    was, now = set(before.isr), set(after.isr)
    if was == now:
        return Kind.ISR, ""
    doing = "shrinks" if now < was else "expands" if now > was else "changes"
    return Kind.ISR, f"{where}: ISR {doing} from {listed(before.isr)} to {listed(after.isr)}"


def see_doomed(sights: Sights, sight: Sight) -> list[Event]:
    name = sight.match[1]
    if sight.node is None:
        sights.doomed.discard(name)
        return []
    if name in sights.doomed:
        return []
    sights.doomed.add(name)
    return [sight.event(Kind.TOPIC, f"topic {name} is to be deleted", name)]


def see_config(sights: Sights, sight: Sight) -> list[Event]:
    before = sights.configs.pop(sight.path, None)
    if sight.node is None:
        return []
    sights.configs[sight.path] = sight.node.zxid
    is_old = before == sight.node.zxid
    is_made = before is None and sight.match[1] == "topics"  # Said by the topic itself.
    if is_old or is_made:
        return []
    kind, name = sight.match[1], sight.match[2]
    topic = name if kind == "topics" else ""
    return [sight.event(Kind.CONFIG, f"settings of {kind[:-1]} {name} are changed", topic)]


def see_reassignment(sights: Sights, sight: Sight) -> list[Event]:
    before, sights.moves = sights.moves, sight.node is not None
    if sights.moves == before:
        return []
    text = "a reassignment is asked for" if sights.moves else "the reassignment is done"
    return [sight.event(Kind.REASSIGNMENT, text)]


def counted(things: Sized, name: str) -> str:
    return f"{len(things)} {name}{'s' * (len(things) != 1)}"


def listed(ids: Iterable[int]) -> str:
    return ", ".join(map(str, ids)) or "nobody"


Look = Callable[[Sights, Sight], list[Event]]
LOOKS: list[tuple[re.Pattern[str], Look]] = [
    (STATE, see_state),
    (re.compile(paths.CONTROLLER), see_controller),
    (re.compile(paths.CONTROLLER_EPOCH), see_controller_epoch),
    (BROKER, see_broker),
    (TOPIC, see_topic),
    (DOOMED, see_doomed),
    (CONFIG, see_config),
    (re.compile(paths.REASSIGN_PARTITIONS), see_reassignment),
]


def is_of_interest(path: str) -> bool:
    """Whether a change of this znode may be an event."""
    return any(pattern.fullmatch(path) for pattern, _ in LOOKS)
