"""A bucket of tokens, for what comes in bursts (KIP-599).

It fills at the rate of the limit up to what all windows together would let through. One may take
more than there is; the next has to wait until nothing is owed any more.
"""

from __future__ import annotations

from odradek.kafka.quotas.rates import PAUSE_MAX_MS, Windows


class TokenBucket:
    """Of one who is limited; full when it is new."""

    __slots__ = ("_tokens", "last_ms")

    def __init__(self) -> None:
        self._tokens: float | None = None
        self.last_ms = 0.0

    def take(self, count: float, limit: float, windows: Windows, now_ms: float) -> None:
        self._tokens = self._filled(limit, windows, now_ms) - count
        self.last_ms = now_ms

    def pause_ms(self, limit: float, windows: Windows, now_ms: float) -> int:
        """How long until nothing is owed; 0 if nothing is."""
        tokens = self._filled(limit, windows, now_ms)
        if tokens >= 0:
            return 0
        return min(PAUSE_MAX_MS, round(-tokens / limit * 1000)) if limit > 0 else PAUSE_MAX_MS

    def _filled(self, limit: float, windows: Windows, now_ms: float) -> float:
        most = windows.span_ms / 1000 * limit
        if self._tokens is None:
            return most
        return min(most, self._tokens + (now_ms - self.last_ms) / 1000 * limit)
