"""Two ways of doing one thing, timed in turns: machines drift, so compare neighbours."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter


def seconds_a_call(work: Callable[[], object], budget: float) -> float:
    """Time one call, by as many as fit the budget of seconds."""
    count, spent = 1, 0.0
    while True:
        start = perf_counter()
        for _ in range(count):
            work()
        spent = perf_counter() - start
        if spent >= budget:
            return spent / count
        count = max(count * 2, int(count * budget / max(spent, 1e-9)))


def compare(
    ours: Callable[[], object], theirs: Callable[[], object], rounds: int = 7
) -> tuple[float, float]:
    """Medians of seconds a call, ours and theirs, over alternating rounds."""
    pairs = [(seconds_a_call(ours, 0.05), seconds_a_call(theirs, 0.05)) for _ in range(rounds)]
    return median(a for a, _ in pairs), median(b for _, b in pairs)


def report(what: str, ours: float, theirs: float, beside: str, goal: float | None = None) -> None:
    """One line: microseconds of both, the ratio, and the ratio to reach."""
    aim = f"  (goal: at most {goal:g})" if goal is not None else ""
    print(
        f"{what:<58} {ours * 1e6:9.2f} us   {beside} {theirs * 1e6:9.2f} us"
        f"   ratio {ours / theirs:5.2f}{aim}"
    )
