"""Bugs that are planted on purpose: the checks of `clustered.py` must see them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from odradek.kafka.broker import office, partition, replicas
from odradek.kafka.broker.fenced import FencedWrites
from odradek.kafka.broker.keeper import Keeper
from odradek.kafka.replication.follower import Following, History, Step
from odradek.kafka.replication.leader import Follower, IsAlive, Leadership
from odradek.simulation.errors import NodeFailed
from odradek.simulation.faults import nemesis
from odradek.simulation.world import World
from tests.kafka.server import mischief, troubled
from tests.kafka.server.test_ensemble_crashes import TROUBLE_S, ClusterWorld
from tests.kafka.server.witness import Violation

SEEDS_MAX = 40


def expect_violation(what: str, live: Callable[[int], object] = troubled.live) -> None:
    """Within a few seeds somebody must see what is wrong."""
    with pytest.raises(Violation, match=what):
        for seed in range(SEEDS_MAX):
            try:
                live(seed)
            except NodeFailed as failure:
                assert failure.__cause__ is not None
                raise failure.__cause__ from None


def live_under_many_controllers(seed: int) -> None:
    """A life in which controllers are deposed, and do not hear of it, while ISRs change."""
    with World(seed) as world:
        cluster = ClusterWorld(world)
        cluster.start()
        _, depose, _ = mischief.draws(cluster.cluster)
        cluster.haunt(TROUBLE_S, (depose, nemesis.pause, nemesis.one_way_cut))


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


class UnfencedWrites(FencedWrites):
    """Asks for some epoch of a controller, whichever it is."""

    def __init__(self, keeper: Keeper, epoch_version: int) -> None:
        super().__init__(keeper, -1)


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


def test_a_controller_that_writes_after_it_was_succeeded_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(office, "FencedWrites", UnfencedWrites)
    expect_violation("controller . writes .* in epoch", live_under_many_controllers)
