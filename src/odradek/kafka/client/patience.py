"""How long to go on trying, and how long to wait between two tries.

The pause doubles from `retry.backoff.ms` up to its maximum, so that a broker that comes back is
found soon and one that stays away is not besieged. Whoever is told of changes waits for one
instead: the pause ends with it, and the next is a short one again.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep

from odradek.kafka.client.errors import KafkaClientError, TimedOut
from odradek.kafka.client.settings import ClientSettings

Wait = Callable[[float], bool]  # Wait so many seconds; whether there is news earlier.


def wait_it_out(seconds: float) -> bool:
    sleep(seconds)
    return False


class Patience:
    """The time that is left for one undertaking."""

    def __init__(
        self,
        what: str,
        settings: ClientSettings,
        timeout_ms: int | None = None,
        wait: Wait = wait_it_out,
    ) -> None:
        self._what = what
        self._wait = wait
        if timeout_ms is None:
            timeout_ms = settings.default_api_timeout_ms
        self._timeout_s = timeout_ms / 1000
        self._pause_s_min = settings.retry_backoff_ms / 1000
        self._pause_s_max = settings.retry_backoff_ms_max / 1000
        self.renew()

    def renew(self) -> None:
        """Something was achieved: the time counts from now."""
        self._deadline = monotonic() + self._timeout_s
        self._pause_s = self._pause_s_min

    @property
    def left_s(self) -> float:
        return self._deadline - monotonic()

    def pause(self, trouble: str | KafkaClientError) -> None:
        """Wait before the next try, or raise `TimedOut` if there is no time for one."""
        if self.left_s <= self._pause_s:
            raise TimedOut(f"{self._what}: gave up after {self._timeout_s:g} s: {trouble}")
        has_news = self._wait(self._pause_s)
        longer_s = min(2 * self._pause_s, self._pause_s_max)
        self._pause_s = self._pause_s_min if has_news else longer_s
