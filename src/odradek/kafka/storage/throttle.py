"""No more than so many bytes a second, on the average since somebody last had to wait."""

from __future__ import annotations

CHECK_MS = 300  # A shorter time says nothing of a rate.


class Throttle:
    """One for all who share the limit."""

    __slots__ = ("_bytes_count", "_bytes_per_second", "_since_ms")

    def __init__(self, bytes_per_second: float) -> None:
        self._bytes_per_second = bytes_per_second
        self._since_ms: float | None = None
        self._bytes_count = 0

    def pause_ms(self, bytes_count: int, now_ms: float) -> float:
        """How long to wait after so many bytes; `now_ms` counts on from call to call."""
        if self._since_ms is None:
            self._since_ms = now_ms
        self._bytes_count += bytes_count
        elapsed_ms = now_ms - self._since_ms
        if elapsed_ms < CHECK_MS and not self._is_ahead(CHECK_MS):
            return 0.0
        pause_ms = max(0.0, self._bytes_count / self._bytes_per_second * 1000 - elapsed_ms)
        self._since_ms, self._bytes_count = now_ms + pause_ms, 0
        return pause_ms

    def _is_ahead(self, ms: float) -> bool:
        """Whether so long a time would not have been enough."""
        return self._bytes_count / self._bytes_per_second * 1000 > ms
