"""A vote: whom a server wants to lead, and how new that server's history is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from odradek.zookeeper.wire.codes import ServerState
from odradek.zookeeper.wire.election import Notification


@dataclass(frozen=True, slots=True)
class Vote:
    """`election_epoch` counts rounds; `peer_epoch` is the epoch of the candidate's history."""

    leader: int
    zxid: int
    election_epoch: int
    peer_epoch: int
    state: ServerState = ServerState.LOOKING
    version: int = 0

    @classmethod
    def of(cls, notification: Notification) -> Self:
        """The vote in a notification, with the state of the server that sent it."""
        return cls(
            notification.leader,
            notification.zxid,
            notification.election_epoch,
            notification.peer_epoch,
            notification.state,
            notification.version,
        )

    @property
    def rank(self) -> tuple[int, int, int]:
        """The newest history wins; among equals the biggest id."""
        return self.peer_epoch, self.zxid, self.leader

    def agrees_with(self, other: Vote) -> bool:
        """Whether two servers stand behind the same leader.

        Those that have one may have learned of it in different rounds, and those of before version
        1 tell another epoch, so among them less is compared (ZOOKEEPER-1805, ZOOKEEPER-1732).
        """
        if ServerState.LOOKING in (self.state, other.state):
            return self.rank == other.rank and self.election_epoch == other.election_epoch
        if (self.version > 0) != (other.version > 0):
            return self.leader == other.leader
        return (self.leader, self.peer_epoch) == (other.leader, other.peer_epoch)
