"""All that happened, one line each: equal seeds tell equal traces, byte for byte."""

from __future__ import annotations

from hashlib import sha256

from odradek.simulation.schedule import SECOND_NS, Schedule


class Trace:
    """The lines of a world. Whoever writes one asks `is_on` first: the rest must cost nothing."""

    __slots__ = ("_schedule", "is_on", "lines")

    def __init__(self, schedule: Schedule, is_on: bool) -> None:
        self._schedule = schedule
        self.is_on = is_on
        self.lines: list[str] = []

    def note(self, text: str) -> None:
        if self.is_on:
            seconds, rest_ns = divmod(self._schedule.now_ns, SECOND_NS)
            self.lines.append(f"{seconds}.{rest_ns:09d} {text}")

    def digest(self) -> str:
        """A hash over all lines."""
        return sha256("\n".join(self.lines).encode()).hexdigest()
