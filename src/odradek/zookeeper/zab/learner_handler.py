"""The leader's view of one learner: how far it has come, and until when it must be heard from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from odradek.zookeeper.zab.timing import Timing

UNKNOWN = -(1 << 63)


class Stage(IntEnum):
    """In the order in which a learner passes them; in those marked (*) it is its turn to speak."""

    ARRIVED = 0  # (*) Nothing is known of it.
    REGISTERED = 1  # It said who it is, and waits for an epoch.
    OFFERED = 2  # (*) It was offered the epoch.
    ACCEPTED = 3  # It accepted, and waits until a quorum has.
    WAITING_FOR_LOG = 4  # What it needs is being read from the disk.
    SYNCING = 5  # (*) It was sent all it needs, and NEWLEADER.
    SYNCED = 6  # It holds all that, and waits until a quorum does.
    SERVING = 7  # (*) It was told that it is up to date.


SPEAKS = frozenset({Stage.ARRIVED, Stage.OFFERED, Stage.SYNCING, Stage.SERVING})


@dataclass(slots=True)
class LearnerHandler:
    """One connection of a learner."""

    link: int
    heard_ms: int
    synced_until_ms: int  # As long as this it counts for the quorum that a leader must keep.
    server_id: int = UNKNOWN
    is_observer: bool = False
    stage: Stage = Stage.ARRIVED
    peer_zxid: int = 0  # Where it stands, or will stand once it is synchronised.
    acked_zxid: int = 0
    excused_zxid: int = 0  # What was proposed before it served, it need not ack.
    _proposal: tuple[int, int] | None = None  # A zxid that it must ack, and since when.

    @property
    def is_forwarded_to(self) -> bool:
        """Whether it gets what is broadcast: from when its synchronisation was put together."""
        return self.stage >= Stage.SYNCING

    def enter(self, stage: Stage, now_ms: int) -> None:
        self.stage = stage
        self.heard_ms = now_ms

    def must_ack(self, zxid: int, now_ms: int) -> None:
        """This is proposed. Remember one at a time: who acks that within the limit keeps up."""
        if self.stage is not Stage.SERVING or self.is_observer or self._proposal is not None:
            return
        if zxid > self.acked_zxid and zxid > self.excused_zxid:
            self._proposal = zxid, now_ms

    def acked(self, zxid: int) -> None:
        self.acked_zxid = max(self.acked_zxid, zxid)
        if self._proposal and zxid >= self._proposal[0]:
            self._proposal = None

    def is_late(self, timing: Timing, now_ms: int) -> bool:
        """Whether it was silent for too long in a turn of its own, or does not ack."""
        limit_ms = timing.sync_ms if self.stage is Stage.SERVING else timing.init_ms
        if self.stage in SPEAKS and now_ms - self.heard_ms > limit_ms:
            return True
        return self._proposal is not None and now_ms - self._proposal[1] >= timing.sync_ms
