"""How much of something comes in a second, as Kafka measures it.

Time is cut into windows, of which so many are kept (quota.window.num of quota.window.size.seconds);
the last one is under way. Until there are that many, time is taken to be as long as all but one of
them, so that the first request of a client does not look like a flood.

Whoever is over a limit holds back for so long that, with nothing more, the rate would be within
it: (rate - limit) / limit * time.
"""

from __future__ import annotations

from dataclasses import dataclass

PAUSE_MAX_MS = 2**31 - 1  # What an answer can say.


@dataclass(frozen=True, slots=True)
class Windows:
    """How time is cut."""

    count: int
    size_ms: int

    @property
    def span_ms(self) -> int:
        """After so long a silence nothing is known any more."""
        return self.count * self.size_ms


@dataclass(slots=True, eq=False)
class Sample:
    """What came in one window."""

    start_ms: float
    last_ms: float
    amount: float = 0.0

    def reset(self, now_ms: float) -> None:
        self.start_ms = self.last_ms = now_ms
        self.amount = 0.0


class Rate:
    """Of one who is limited."""

    __slots__ = ("_current", "_samples")

    def __init__(self) -> None:
        self._samples: list[Sample] = []  # A ring, one more than the windows that count.
        self._current = 0

    def record(self, amount: float, windows: Windows, now_ms: float) -> None:
        """So much has come; what is less than nothing takes back what was recorded."""
        if not self._samples:
            self._samples.append(Sample(now_ms, now_ms))
        sample = self._samples[self._current]
        if now_ms - sample.start_ms >= windows.size_ms:
            sample = self._advance(windows, now_ms)
        sample.amount += amount
        sample.last_ms = now_ms

    def measure(self, windows: Windows, now_ms: float) -> float:
        """So much a second."""
        time_ms = self.time_ms(windows, now_ms)
        return sum(sample.amount for sample in self._samples) / (time_ms / 1000)

    def elapsed_ms(self, windows: Windows, now_ms: float) -> float:
        """Since the oldest window that still counts."""
        for sample in self._samples:
            if now_ms - sample.last_ms >= windows.span_ms:
                sample.reset(now_ms)
        return now_ms - min((it.start_ms for it in self._samples), default=now_ms)

    def time_ms(self, windows: Windows, now_ms: float) -> float:
        """The time that counts."""
        elapsed_ms = self.elapsed_ms(windows, now_ms)
        missing = windows.count - 1 - elapsed_ms // windows.size_ms
        return max(1.0, elapsed_ms + max(0.0, missing) * windows.size_ms)

    def pause_ms(self, limit: float, windows: Windows, now_ms: float) -> int:
        """How long to hold back; 0 if it is within the limit."""
        rate = self.measure(windows, now_ms)
        if rate <= limit:
            return 0
        if limit <= 0:
            return PAUSE_MAX_MS
        pause_ms = (rate - limit) / limit * self.time_ms(windows, now_ms)
        return min(PAUSE_MAX_MS, round(pause_ms))

    @property
    def last_ms(self) -> float:
        """When something came last."""
        return self._samples[self._current].last_ms

    def _advance(self, windows: Windows, now_ms: float) -> Sample:
        self._current = (self._current + 1) % (windows.count + 1)
        if self._current < len(self._samples):
            sample = self._samples[self._current]
            sample.reset(now_ms)
        else:
            sample = Sample(now_ms, now_ms)
            self._samples.append(sample)
        return sample
