"""When a server last heard of us, as far as we can prove it.

A server counts a session's time-out from the last that it heard of us. What it tells unasked does
not prove that it still hears; an answer does, as of the time at which we asked.
"""

from __future__ import annotations


class Proof:
    """The time `at` which we asked the newest thing that is known to be answered.

    One question at a time is watched for its answer, so that asking costs next to nothing.
    """

    __slots__ = ("_asked_at", "at", "awaited")

    def __init__(self, now: float) -> None:
        self.at = now
        self.awaited: object | None = None
        self._asked_at = now

    def ask(self, question: object, now: float) -> None:
        """Watch for the answer to this, unless there is another to wait for."""
        if self.awaited is None:
            self.awaited = question
            self._asked_at = now

    def answer(self, question: object) -> None:
        if question is self.awaited:
            self.at = self._asked_at
            self.awaited = None
