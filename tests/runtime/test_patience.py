"""Looking for more is kept up while it pays."""

from __future__ import annotations

from odradek.runtime.patience import CROWDED_AFTER, HOPE_MAX, TRIED_AFTER, Patience


def occasions_taken(patience: Patience, count: int) -> int:
    """How many of so many occasions are taken, all in vain."""
    taken = 0
    for _ in range(count):
        if patience.is_worth_it():
            taken += 1
            patience.wasted()
    return taken


def test_after_vain_looks_only_few_occasions_are_taken() -> None:
    assert occasions_taken(Patience(), HOPE_MAX + 10 * TRIED_AFTER) == HOPE_MAX + 10


def test_one_look_that_paid_brings_hope_back() -> None:
    patience = Patience()
    occasions_taken(patience, 100)
    patience.paid()
    assert occasions_taken(patience, HOPE_MAX) == HOPE_MAX


def test_who_is_in_the_way_looks_hardly_ever_until_it_pays() -> None:
    patience = Patience()
    patience.crowded()
    assert occasions_taken(patience, 3 * CROWDED_AFTER) == 3
    patience.paid()
    occasions_taken(patience, HOPE_MAX)
    assert occasions_taken(patience, TRIED_AFTER) == 1
