"""Bugs that are planted on purpose: the checks of `clustered.py` must see them."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from odradek.kafka.broker import partition, replicas
from odradek.kafka.replication.follower import Following, History, Step
from odradek.kafka.replication.leader import Follower, IsAlive, Leadership
from odradek.simulation.errors import NodeFailed
from tests.kafka.server.troubled import live
from tests.kafka.server.witness import Violation

SEEDS_MAX = 40


def expect_violation(what: str) -> None:
    """Within a few seeds somebody must see what is wrong."""
    with pytest.raises(Violation, match=what):
        for seed in range(SEEDS_MAX):
            try:
                live(seed)
            except NodeFailed as failure:
                assert failure.__cause__ is not None
                raise failure.__cause__ from None


class Hasty(Follower):
    """Counts as replicated what was merely sent."""

    def fetched(self, offset: int, start_offset: int, leader_end_offset: int, now_ms: int) -> None:
        super().fetched(offset, start_offset, leader_end_offset, now_ms)
        self.end_offset = leader_end_offset


class HastyLeadership(Leadership):
    def assign(
        self, replicas: Iterable[int], isr: Iterable[int], end_offset: int, now_ms: int
    ) -> None:
        super().assign(replicas, isr, end_offset, now_ms)
        for broker_id, follower in self.followers.items():
            if not isinstance(follower, Hasty):
                self.followers[broker_id] = Hasty(caught_up_ms=follower.caught_up_ms)


class CredulousLeadership(Leadership):
    """Takes in whoever fetches, however far behind."""

    def may_join(self, broker_id: int, high_watermark: int, is_alive: IsAlive) -> bool:
        return self.asked_isr is None and broker_id not in self.isr


class CutToHighWatermark(Following):
    """Knows nothing of epochs, as followers did before KIP-101."""

    def begin(self, log: History, *, knows_diverging: bool) -> None:
        self.step = Step.CUT_TO_HIGH_WATERMARK

    def last_fetched_epoch(self, log: History) -> int:
        return -1


def test_a_high_watermark_that_moves_before_the_next_fetch_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(partition, "Leadership", HastyLeadership)
    expect_violation("is in sync and ends at")


def test_one_that_is_taken_in_too_early_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition, "Leadership", CredulousLeadership)
    expect_violation("is in sync and ends at")


def test_a_log_that_is_cut_to_its_high_watermark_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replicas, "Following", CutToHighWatermark)
    expect_violation("is in sync and ends at|the logs differ|OUT_OF_ORDER")
