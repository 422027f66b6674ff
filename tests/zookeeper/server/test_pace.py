"""A disk is believed to be slow at once, and quick only after a while."""

from __future__ import annotations

from odradek.zookeeper.server.pace import QUICK_S, Pace


def observed(*times_s: float) -> Pace:
    pace = Pace()
    for took_s in times_s:
        pace.observe(took_s)
    return pace


def test_a_disk_is_slow_until_it_has_shown_otherwise() -> None:
    assert not Pace().is_quick
    assert not observed(QUICK_S / 4).is_quick
    assert observed(*[QUICK_S / 4] * 100).is_quick


def test_one_sync_that_takes_long_is_enough() -> None:
    pace = observed(*[QUICK_S / 4] * 100)
    pace.observe(QUICK_S * 10)
    assert not pace.is_quick


def test_one_that_is_a_little_late_is_not() -> None:
    pace = observed(*[QUICK_S / 4] * 100)
    pace.observe(QUICK_S * 2)
    assert pace.is_quick
