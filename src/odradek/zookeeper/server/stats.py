"""What a server counts while it serves.

Each connection keeps a tally of its own, so that a request costs an addition or two; sums over all
are made when somebody asks. A read that is answered as it arrives took no time that a clock of
milliseconds could show, so such reads are not even counted: they are what is left when all others
are taken from what was received.
"""

from __future__ import annotations

from collections import Counter as Multiset
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from odradek.zookeeper.server.distribution import DETAILED, Distribution

LENGTH_BYTES = 4  # In front of each frame, and no part of its size.
HEADER_BYTES = 16  # Of a reply; none is smaller.


class Tally:
    """What came, what went and how long it took: of one connection, or of many together."""

    __slots__ = (
        "aside",
        "bytes_received",
        "bytes_sent",
        "read_ms",
        "received",
        "sent",
        "write_ms",
    )

    def __init__(self) -> None:
        self.received = 0
        self.sent = 0
        self.bytes_received = 0
        self.bytes_sent = 0
        self.aside = 0  # What was received and is no read, or a read that had to wait.
        self.read_ms: Multiset[int] = Multiset()  # Only of the reads that had to wait.
        self.write_ms: Multiset[int] = Multiset()

    def add(self, other: Tally) -> None:
        self.received += other.received
        self.sent += other.sent
        self.bytes_received += other.bytes_received
        self.bytes_sent += other.bytes_sent
        self.aside += other.aside
        # Most have nothing to add here, and there may be thousands.
        if other.read_ms or other.write_ms:
            self.read_ms.update(other.read_ms)
            self.write_ms.update(other.write_ms)

    def subtract(self, other: Tally) -> None:
        self.received -= other.received
        self.sent -= other.sent
        self.bytes_received -= other.bytes_received
        self.bytes_sent -= other.bytes_sent
        self.aside -= other.aside
        self.read_ms -= other.read_ms
        self.write_ms -= other.write_ms

    def reads(self) -> Distribution:
        at_once = Multiset({0: self.received - self.aside})
        return Distribution(self.read_ms + at_once, DETAILED)

    def writes(self) -> Distribution:
        return Distribution(self.write_ms, DETAILED)

    def requests(self) -> Distribution:
        return Distribution(self.reads().counts + self.write_ms, DETAILED)


def total(tallies: Iterable[Tally]) -> Tally:
    result = Tally()
    for each in tallies:
        result.add(each)
    return result


@dataclass(slots=True)
class Counts:
    """What happened since the start or the last reset; each as monitors name it."""

    connection_request_count: int = 0
    connection_rejected: int = 0
    connection_drop_count: int = 0
    sessionless_connections_expired: int = 0
    stale_sessions_expired: int = 0
    watch_bytes: int = 0
    snapshot_rate_limited_count: int = 0
    last_response_bytes: int = -1
    least_response_bytes: int = -1
    most_response_bytes: int = -1
    watchers_told: defaultdict[int, Distribution] = field(  # By event.
        default_factory=lambda: defaultdict(Distribution)
    )


@dataclass(slots=True)
class Sizes:
    """How long proposals were: the last, the shortest and the longest; -1 before the first."""

    last: int = -1
    least: int = -1
    most: int = -1

    def observe(self, size: int) -> None:
        self.last = size
        if size > self.most:
            self.most = size
        if size < self.least or self.least < 0:
            self.least = size

    def __str__(self) -> str:
        return f"{self.last}/{self.least}/{self.most}"


class Stats:
    """The counts of a server, and the tally of connections that are gone."""

    def __init__(self) -> None:
        self.counts = Counts()
        self.auth_failed_count = 0  # Survives a reset.
        self._gone = Tally()
        self._forgotten = Tally()  # What was counted before the last reset.

    def take_over(self, tally: Tally) -> None:
        """A connection is gone, or starts to count anew: what it did stays done."""
        self._gone.add(tally)

    def tally(self, present: Iterable[Tally]) -> Tally:
        """What all connections did since the last reset; `present` are those still here."""
        result = total([self._gone, *present])
        result.subtract(self._forgotten)
        return result

    def reset(self, present: Iterable[Tally]) -> None:
        """Start to count anew; the connections go on with their own counts."""
        self._forgotten = total([self._gone, *present])
        self.counts = Counts()

    def responded(self, frames: list[bytes], total_bytes: int) -> None:
        """These are about to be sent; they are looked through if an extreme may be among them."""
        counts = self.counts
        counts.last_response_bytes = len(frames[-1]) - LENGTH_BYTES
        if total_bytes - LENGTH_BYTES > counts.most_response_bytes:
            most = max(map(len, frames)) - LENGTH_BYTES
            counts.most_response_bytes = max(counts.most_response_bytes, most)
        if not 0 <= counts.least_response_bytes <= HEADER_BYTES:
            least = min(map(len, frames)) - LENGTH_BYTES
            if least < counts.least_response_bytes or counts.least_response_bytes < 0:
                counts.least_response_bytes = least

    def told(self, event: int, watcher_count: int) -> None:
        """So many watchers heard of an event."""
        self.counts.watchers_told[event].observe(watcher_count)
