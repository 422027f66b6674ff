"""What a core asks of its shell, in the order in which it must be asked.

The shell walks the list. Effects on the disk (those with a `mark`) go to one queue and are done in
order; once one is durable, the shell says so with its mark, which vouches for all before it. All
others are done at once. No core lets a packet go that promises what the disk does not hold yet, so
the shell needs no rule of its own about that: it sends what it is given.

What is asked for with every write is asked for in runs: what is logged, sent or committed next to
its like is one effect, so a turn of many writes asks for little more than a turn of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from odradek.zookeeper.wire.codes import ServerState
from odradek.zookeeper.wire.election import Notification
from odradek.zookeeper.wire.messages.data import Id
from odradek.zookeeper.wire.messages.quorum import QuorumPacket, SessionTouch
from odradek.zookeeper.wire.quorum import ForwardedRequest
from odradek.zookeeper.zab.quorum import Membership
from odradek.zookeeper.zab.window import Entry


class EpochFile(Enum):
    """The two promises about epochs, by the names of their files."""

    ACCEPTED = "acceptedEpoch"
    CURRENT = "currentEpoch"


@dataclass(frozen=True, slots=True)
class Notify:
    """Say this to a server on the election port; only the newest one not yet sent counts."""

    server_id: int
    notification: Notification


@dataclass(frozen=True, slots=True)
class Connect:
    """Open a connection to the leader's quorum port; answer `connected` or `closed`."""

    link: int
    server_id: int


@dataclass(frozen=True, slots=True)
class Close:
    """Close a connection; nothing more is heard of it."""

    link: int


@dataclass(slots=True)
class Send:
    """Send these packets to each of the links, behind all that was sent to them before."""

    links: Sequence[int]
    packets: list[QuorumPacket]


@dataclass(frozen=True, slots=True)
class SendSnapshot:
    """Send the tree as it is now, and the string that ends it; what is sent later waits for it.

    `zxid` stands for its last write, or for the epoch if nothing was written in it yet.
    """

    link: int
    zxid: int


@dataclass(frozen=True, slots=True)
class ReadLog:
    """Read the log from the last entry at or before `zxid` on; answer `log_read`."""

    link: int
    zxid: int


@dataclass(slots=True)
class Log:
    """Append entries to the log. Each has a mark; this is the last one's."""

    mark: int
    entries: list[Entry]


@dataclass(frozen=True, slots=True)
class Truncate:
    """Cut the log behind `zxid`; if the tree or a snapshot holds more, go back to `zxid` too.

    If that is done `for_snapshot`, one is installed right after it; until then the tree can stay.
    """

    mark: int
    zxid: int
    for_snapshot: bool = False


@dataclass(frozen=True, slots=True)
class InstallSnapshot:
    """Take the tree that came on this link for one's own; write it as the snapshot of `zxid`."""

    mark: int
    link: int
    zxid: int


@dataclass(frozen=True, slots=True)
class WriteEpoch:
    """Replace one of the small files."""

    mark: int
    file: EpochFile
    epoch: int


@dataclass(frozen=True, slots=True)
class Activate:
    """Write this membership to the dynamic configuration, and reach servers by it from now on."""

    mark: int
    membership: Membership


@dataclass(slots=True)
class Commit:
    """Apply these entries to the tree, one after the other, and answer whoever waits for them."""

    entries: list[Entry]


@dataclass(frozen=True, slots=True)
class Serve:
    """Open for clients in this state. A leader gives out zxids behind `zxid` from now on.

    The role may be over by the time that this is done; then `Retire` follows.
    """

    state: ServerState
    leader: int
    zxid: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Retire:
    """Close the clients' connections and forget what was asked and not committed."""

    reason: str


@dataclass(frozen=True, slots=True)
class TouchSessions:
    """A learner heard from these sessions."""

    touches: Sequence[SessionTouch]


class Decide(NamedTuple):
    """A learner's client asks for this: propose it, or answer a sync with `sync`."""

    link: int
    server_id: int
    request: ForwardedRequest
    authinfo: Sequence[Id]


@dataclass(frozen=True, slots=True)
class Revalidate:
    """A client of this learner comes back to a session; answer `revalidated`."""

    link: int
    server_id: int
    touch: SessionTouch


@dataclass(frozen=True, slots=True)
class Revalidated:
    """What the leader said of a session that we asked about."""

    session_id: int
    is_valid: bool


@dataclass(frozen=True, slots=True)
class Synced:
    """The oldest sync that waits is done: all that was committed before it is applied."""


@dataclass(frozen=True, slots=True)
class Tell:
    """A line for the log of the server."""

    line: str


DiskEffect = Log | Truncate | InstallSnapshot | WriteEpoch | Activate
Effect = (
    DiskEffect
    | Notify
    | Connect
    | Close
    | Send
    | SendSnapshot
    | ReadLog
    | Commit
    | Serve
    | Retire
    | TouchSessions
    | Decide
    | Revalidate
    | Revalidated
    | Synced
    | Tell
)


@dataclass(slots=True)
class Effects:
    """What is asked for and not yet taken, in order."""

    asked: list[Effect] = field(default_factory=list)
    _logging: Log | None = None  # The last that was asked of the disk, if that is a run.

    def append(self, effect: Effect) -> None:
        if isinstance(effect, DiskEffect | ReadLog):
            self._logging = None
        self.asked.append(effect)

    def send(self, links: Sequence[int], packet: QuorumPacket) -> None:
        asked = self.asked
        last = asked[-1] if asked else None
        if type(last) is Send and last.links == links:
            last.packets.append(packet)
        else:
            asked.append(Send(links, [packet]))

    def send_all(self, links: Sequence[int], packets: list[QuorumPacket]) -> None:
        last = self.asked[-1] if self.asked else None
        if type(last) is Send and last.links == links:
            last.packets += packets
        elif links and packets:
            self.asked.append(Send(links, packets))

    def log(self, mark: int, entry: Entry) -> None:
        """The disk has an order of its own, so what was asked of others meanwhile is no matter."""
        logging = self._logging
        if logging is None:
            logging = self._logging = Log(mark, [entry])
            self.asked.append(logging)
        else:
            logging.mark = mark
            logging.entries.append(entry)

    def commit(self, *entries: Entry) -> None:
        asked = self.asked
        last = asked[-1] if asked else None
        if type(last) is Commit:
            last.entries += entries
        else:
            asked.append(Commit([*entries]))

    def take(self) -> list[Effect]:
        taken, self.asked, self._logging = self.asked, [], None
        return taken
