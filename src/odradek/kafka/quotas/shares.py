"""What was used of limits, by those who have them.

Who has used nothing for as long as is remembered is as good as new, and need not be kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, Protocol, TypeVar

from odradek.kafka.quotas.bucket import TokenBucket
from odradek.kafka.quotas.limits import Limits, Owner
from odradek.kafka.quotas.rates import PAUSE_MAX_MS, Rate, Windows

KEPT_MIN = 64


class Dated(Protocol):
    """What knows when it was last used."""

    @property
    def last_ms(self) -> float: ...


Use = TypeVar("Use", bound=Dated)
Name = TypeVar("Name")


class Uses(Generic[Name, Use]):
    """The uses of all who have used anything of late."""

    def __init__(self, kind: type[Use], span_ms: int) -> None:
        self._kind = kind
        self._span_ms = span_ms
        self._uses: dict[Name, Use] = {}
        self._kept_max = KEPT_MIN

    def __len__(self) -> int:
        return len(self._uses)

    def items(self) -> Iterable[tuple[Name, Use]]:
        return self._uses.items()

    def get(self, name: Name, now_ms: float) -> Use:
        """Of this one; new if it is not known. The caller uses it at once."""
        use = self._uses.get(name)
        if use is None:
            if len(self._uses) >= self._kept_max:
                self._forget(now_ms)
            use = self._uses[name] = self._kind()
        return use

    def _forget(self, now_ms: float) -> None:
        """Not at each new one, but when they have doubled: so it costs each of them little."""
        oldest_ms = now_ms - self._span_ms
        self._uses = {name: use for name, use in self._uses.items() if use.last_ms > oldest_ms}
        self._kept_max = max(KEPT_MIN, 2 * len(self._uses))


class RateQuota:
    """A limit of something a second: bytes, or a share of time."""

    def __init__(self, key: str, windows: Windows, pause_max_ms: int = PAUSE_MAX_MS) -> None:
        self.limits = Limits(key)
        self._windows = windows
        self._pause_max_ms = pause_max_ms
        self._uses: Uses[Owner, Rate] = Uses(Rate, windows.span_ms)

    def charge(self, user: str, client_id: str, amount: float, now_ms: float) -> int:
        """So much is used; return for how many milliseconds to hold back."""
        limit = self.limits.find(user, client_id)
        if limit is None:
            return 0
        rate = self._uses.get(limit.owner, now_ms)
        rate.record(amount, self._windows, now_ms)
        return min(self._pause_max_ms, rate.pause_ms(limit.value, self._windows, now_ms))

    def refund(self, user: str, client_id: str, amount: float, now_ms: float) -> None:
        """It was not used after all."""
        if limit := self.limits.find(user, client_id):
            self._uses.get(limit.owner, now_ms).record(-amount, self._windows, now_ms)

    def rates(self, now_ms: float) -> dict[Owner, float]:
        """How much each uses in a second, of those who have a limit."""
        return {it: rate.measure(self._windows, now_ms) for it, rate in self._uses.items()}

    def most(self, user: str, client_id: str) -> float | None:
        """As much as may ever be used at once; None: there is no limit."""
        limit = self.limits.find(user, client_id)
        if limit is None:
            return None
        return limit.value * (self._windows.count - 1) * self._windows.size_ms / 1000


class BurstQuota:
    """A limit of operations, of which many may come at once."""

    def __init__(self, key: str, windows: Windows) -> None:
        self.limits = Limits(key)
        self._windows = windows
        self._uses: Uses[Owner, TokenBucket] = Uses(TokenBucket, windows.span_ms)

    def charge(
        self, user: str, client_id: str, count: float, now_ms: float, *, is_strict: bool
    ) -> int:
        """Take so many; return for how many milliseconds to hold back.

        Who is told so strictly has taken nothing, and may only come again later.
        """
        limit = self.limits.find(user, client_id)
        if limit is None:
            return 0
        bucket = self._uses.get(limit.owner, now_ms)
        pause_ms = bucket.pause_ms(limit.value, self._windows, now_ms)
        if is_strict and pause_ms:
            return pause_ms
        bucket.take(count, limit.value, self._windows, now_ms)
        return 0 if is_strict else bucket.pause_ms(limit.value, self._windows, now_ms)
