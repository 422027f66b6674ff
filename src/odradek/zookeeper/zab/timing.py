"""How patient a member of an ensemble is; limits are counted in ticks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timing:
    """The defaults are the original's, but for what is said; the first three are configured."""

    tick_ms: int
    init_limit: int
    sync_limit: int
    connect_limit: int = 0  # For reaching the leader; 0 stands for `init_limit`.
    connect_retry_ms: int = 100
    connect_retry_least_ms: int = 20  # At first; then twice as long each time.
    connect_tries: int = 8  # The original tries 5 times, at the longer intervals from the start.
    notification_min_ms: int = 200
    notification_max_ms: int = 60_000
    finalize_ms: int = 200

    @property
    def init_ms(self) -> int:
        """For every step until a learner serves."""
        return self.tick_ms * self.init_limit

    @property
    def sync_ms(self) -> int:
        """For every word after that."""
        return self.tick_ms * self.sync_limit

    @property
    def connect_ms(self) -> int:
        return self.tick_ms * (self.connect_limit or self.init_limit)
