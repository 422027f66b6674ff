"""Links: one direction between two hosts, with its delays and its cuts."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from odradek.simulation.schedule import SECOND_NS, Schedule
from odradek.simulation.trace import Trace

if TYPE_CHECKING:
    from odradek.simulation.network.interfaces import Interface
    from odradek.simulation.network.pipes import Pipe

TAIL = 0.99  # The rarest delay is this near to infinite: a hundred times the jitter.


@dataclass(slots=True)
class Conditions:
    """What holds for the whole network. Times are those of Linux, where it has any."""

    schedule: Schedule
    random: Random
    trace: Trace
    latency_s: float = 100e-6  # At least...
    jitter_s: float = 50e-6  # ...and half of the time at most so much more.
    loopback_latency_s: float = 10e-6
    split_chance: float = (
        0.1  # That what was written at once arrives in parts; then again for each.
    )
    socket_bytes: int = 256 * 1024  # Sent and not yet read: both kernels' buffers together.
    give_up_s: float = 924.6  # tcp_retries2 = 15
    connect_give_up_s: float = 127.0  # tcp_syn_retries = 6
    retransmit_s_max: float = 1.0


@dataclass(slots=True, eq=False)
class Link:
    """The way from one host to another. Each delay is drawn from a distribution with a tail."""

    source: Interface
    target: Interface
    conditions: Conditions
    latency_ns: int
    jitter_ns: int
    slowness: float = 1.0
    bytes_per_second: float | None = None
    is_cut: bool = False
    # What waits until we are open again. A dict, because sets have no order.
    stalled: dict[Pipe, None] = field(default_factory=dict)
    _free_at_ns: int = 0

    @property
    def is_open(self) -> bool:
        """Whether packets arrive."""
        return not self.is_cut and self.target.is_up

    def latency_draw_ns(self) -> int:
        draw = self.conditions.random.random()
        jitter_ns = self.jitter_ns * (1 / (1 - TAIL * draw) - 1)
        return int(self.slowness * (self.latency_ns + jitter_ns))

    def arrival_ns(self, size: int) -> int:
        """When a packet of this size arrives that is sent now, behind all that were sent before."""
        now_ns = self.conditions.schedule.now_ns
        if self.bytes_per_second is None:
            return now_ns + self.latency_draw_ns()
        start_ns = max(now_ns, self._free_at_ns)
        self._free_at_ns = start_ns + int(size / self.bytes_per_second * SECOND_NS)
        return self._free_at_ns + self.latency_draw_ns()

    def slow_down(self, slowness: float, bytes_per_second: float | None) -> None:
        """Take so many times as long, and let no more through; 1 and None make all well."""
        self.slowness = slowness
        self.bytes_per_second = bytes_per_second

    def revive(self) -> None:
        """Let go on what waited for this link to be open."""
        if self.is_open:
            stalled, self.stalled = self.stalled, {}
            for pipe in stalled:
                pipe.revive()
