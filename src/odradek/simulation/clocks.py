"""The clocks of one host: both run at a rate of their own, only the wall clock can be set.

The steady clock counts from some boot in the past, so two hosts never agree on it. A timer that
is already set keeps its moment when the rate changes.
"""

from __future__ import annotations

from odradek.simulation.schedule import SECOND_NS, Schedule

EPOCH_MS = 1_704_067_200_000  # The first of January 2024, when every world begins.


class HostClock:
    """What a host believes the time to be."""

    __slots__ = ("_base_s", "_base_wall_s", "_schedule", "_second_ns", "_since_ns")

    def __init__(self, schedule: Schedule, boot_s: int) -> None:
        self._schedule = schedule
        self._base_s = float(boot_s)
        self._base_wall_s = 0.0
        self._since_ns = schedule.now_ns
        self._second_ns = float(SECOND_NS)  # How long one of our seconds really takes.

    def time(self) -> float:
        """Seconds on the steady clock."""
        return self._base_s + (self._schedule.now_ns - self._since_ns) / self._second_ns

    def wall_ms(self) -> int:
        """Milliseconds since 1970 on the wall clock."""
        passed_s = (self._schedule.now_ns - self._since_ns) / self._second_ns
        return EPOCH_MS + int((self._base_wall_s + passed_s) * 1000)

    def moment_ns(self, when: float) -> int:
        """The moment at which our steady clock shows `when`; never before the present.

        Rounding may not make a later time the present one: whoever waits for it would be woken
        too early, and wait again, for ever.
        """
        now_ns = self._schedule.now_ns
        moment_ns = self._since_ns + round((when - self._base_s) * self._second_ns)
        if moment_ns > now_ns:
            return moment_ns
        return now_ns + 1 if when > self.time() else now_ns

    def run_at(self, rate: float) -> None:
        """From now on let so many of our seconds pass in a true one."""
        passed_s = (self._schedule.now_ns - self._since_ns) / self._second_ns
        self._base_s += passed_s
        self._base_wall_s += passed_s
        self._since_ns = self._schedule.now_ns
        self._second_ns = SECOND_NS / rate

    def set_wall_forward(self, seconds: float) -> None:
        """Set the wall clock forward, or back if negative."""
        self._base_wall_s += seconds
