"""What is wrong with the options of a query: all of it, so that one look suffices."""

from __future__ import annotations

from collections.abc import Sequence

from odradek.runtime.errors import OdradekError


class InvalidOptions(OdradekError):
    """Options that cannot be; the message has a line for each."""

    def __init__(self, problems: Sequence[str]) -> None:
        lines = "".join(f"\n  {problem}" for problem in problems)
        super().__init__(f"options of format('odradek'):{lines}")
        self.problems = tuple(problems)
