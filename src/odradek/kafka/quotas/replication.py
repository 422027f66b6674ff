"""What copying partitions may use of a broker: so many bytes a second, for chosen replicas.

A topic names the replicas that are held back: `*` for all of them, or `partition:broker` for each;
a broker looks for its own. What they use counts whether or not there is a limit just now. Who is
held back is left out until the rate is within the limit again; a replica that is in sync never
is, or it would fall out of sync for it (KIP-73).

Other than for clients, time is as long as it was, and at least one window.
"""

from __future__ import annotations

from collections.abc import Sequence

from odradek.kafka.quotas.rates import Rate, Windows

EVERY_REPLICA = "*"
UNLIMITED = 2**63 - 1


class SimpleRate(Rate):
    """A rate of which only the first window is taken to be over."""

    __slots__ = ()

    def time_ms(self, windows: Windows, now_ms: float) -> float:
        return max(self.elapsed_ms(windows, now_ms), float(windows.size_ms))


class ReplicationQuota:
    """The limit of one kind of copying, and the replicas that it is for."""

    def __init__(self, windows: Windows) -> None:
        self.limit = UNLIMITED
        self._windows = windows
        self._rate = SimpleRate()
        self._chosen: dict[str, frozenset[int] | None] = {}  # None: all partitions of a topic.

    def __bool__(self) -> bool:
        """Whether any replica is chosen at all."""
        return bool(self._chosen)

    def choose(self, topic: str, replicas: Sequence[str], broker_id: int) -> None:
        """This is all that a topic says of its replicas."""
        self._chosen.pop(topic, None)
        if tuple(replicas) == (EVERY_REPLICA,):
            self._chosen[topic] = None
        elif own := partitions_of(replicas, broker_id):
            self._chosen[topic] = own

    def covers(self, topic: str, partition: int) -> bool:
        chosen = self._chosen.get(topic, frozenset())
        return chosen is None or partition in chosen

    def record(self, bytes_count: int, now_ms: float) -> None:
        if bytes_count:
            self._rate.record(bytes_count, self._windows, now_ms)

    def rate(self, now_ms: float) -> float:
        """Bytes a second."""
        return self._rate.measure(self._windows, now_ms)

    def pause_ms(self, now_ms: float) -> int:
        """How long until the rate is within the limit, with nothing more; 0: it is."""
        if self.limit == UNLIMITED:
            return 0
        return self._rate.pause_ms(self.limit, self._windows, now_ms)


def partitions_of(replicas: Sequence[str], broker_id: int) -> frozenset[int]:
    """The partitions whose replica on this broker is among those named."""
    pairs = (it.split(":") for it in replicas)
    return frozenset(int(partition) for partition, broker in pairs if int(broker) == broker_id)
