"""Of two ways of working the one that gets more done is kept."""

from __future__ import annotations

from odradek.runtime.trial import IDLE, KEPT_MAX_S, KEPT_S, TURN_S, TURNS, Trial

RATE = 5 * IDLE


class Worker:
    """Works at one rate the old way and at another the new way, in virtual time."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.trial = Trial(self.now_s)

    def work(self, seconds: float, old_rate: float, new_rate: float) -> float:
        """Go on for so long; return for which part of the time it was the new way."""
        start_s, new_s = self.now_s, 0.0
        while self.now_s < start_s + seconds:
            is_new_way = self.trial.is_new_way
            lasted_s = self.trial.until_s - self.now_s
            self.trial.did(round((new_rate if is_new_way else old_rate) * lasted_s))
            self.now_s += lasted_s
            new_s += lasted_s * is_new_way
            self.trial.turn(self.now_s)
        return new_s / (self.now_s - start_s)


def test_a_better_way_is_found_within_one_trial_and_kept() -> None:
    worker = Worker()
    worker.work((TURNS + 0.5) * TURN_S, RATE, 1.3 * RATE)
    assert worker.trial.is_new_way
    assert worker.work(60, RATE, 1.3 * RATE) > 0.95


def test_a_worse_way_is_hardly_taken() -> None:
    assert Worker().work(60, RATE, 0.5 * RATE) < 0.02


def test_a_way_that_is_no_better_is_not_chosen() -> None:
    assert Worker().work(60, RATE, 1.04 * RATE) < 0.02


def test_when_the_other_way_becomes_better_it_is_taken_in_time() -> None:
    worker = Worker()
    worker.work(60, RATE, 1.3 * RATE)
    worker.work(KEPT_MAX_S + 2 * TURNS * TURN_S, RATE, 0.5 * RATE)
    assert not worker.trial.is_new_way


def test_where_little_is_done_nothing_is_tried() -> None:
    worker = Worker()
    worker.work(10, RATE, 1.3 * RATE)
    worker.work(KEPT_MAX_S, 0.9 * IDLE, 0.9 * IDLE)
    assert worker.work(10, 0.9 * IDLE, 2 * IDLE) == 0


def test_after_a_rest_all_is_tried_anew() -> None:
    worker = Worker()
    worker.work(60, RATE, 0.5 * RATE)  # By now it is tried seldom.
    worker.now_s += 60
    worker.trial.turn(worker.now_s)
    assert worker.work(KEPT_S, RATE, 1.3 * RATE) > 0.8
