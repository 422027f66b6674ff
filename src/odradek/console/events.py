"""What can happen to a cluster, as one line of the timeline says it; pure.

An event is about one thing: a znode, a partition or a group. Events that a znode tells of carry
the zxid of the change, so that two consoles that saw the same thing are known to have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """What an event is, in the words of filters."""

    REGISTRATION = "registration"
    EXPIRY = "expiry"
    ELECTION = "election"  # Of a controller, or of an ensemble's leader.
    EPOCH = "epoch"
    LEADER = "leader"  # Of a partition.
    ISR = "isr"
    TOPIC = "topic"
    REASSIGNMENT = "reassignment"
    CONFIG = "config"
    REBALANCE = "rebalance"
    CONNECTION = "connection"  # Of the console itself: what it could not see, it says.


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the timeline."""

    time_ms: int
    kind: Kind
    text: str
    path: str = ""  # The znode that told of it.
    topic: str = ""
    partition: int = -1
    group: str = ""
    zxid: int = 0  # Of the change, where a znode told of it.

    @property
    def identity(self) -> tuple[object, ...]:
        """Equal for two tellings of one thing."""
        if self.zxid:
            return self.kind, self.path, self.zxid, self.text
        return self.kind, self.time_ms, self.text

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def event_from_json(said: Mapping[str, Any]) -> Event:
    """The other way; KeyError, TypeError or ValueError if it is nothing of ours."""
    return Event(
        time_ms=int(said["time_ms"]),
        kind=Kind(said["kind"]),
        text=str(said["text"]),
        path=str(said.get("path", "")),
        topic=str(said.get("topic", "")),
        partition=int(said.get("partition", -1)),
        group=str(said.get("group", "")),
        zxid=int(said.get("zxid", 0)),
    )
