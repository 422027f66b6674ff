"""Bugs of coordinators that are planted on purpose: the books of their clients must show them."""

from __future__ import annotations

import pytest

from odradek.kafka.broker.group_shards import GroupShard
from odradek.kafka.coordinator import offsets_commit, txn_decide
from odradek.kafka.storage.log import Log
from tests.kafka.server import test_group_crashes, test_transaction_crashes
from tests.kafka.server.test_cluster_bugs import expect_violation


def test_a_commit_of_an_earlier_generation_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offsets_commit, "generation_error", lambda *_: None)
    expect_violation("commits when . is known|goes back", test_group_crashes.live)


def test_a_coordinator_that_forgets_when_it_moves_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GroupShard, "take", lambda *_: None)
    expect_violation("was committed of ., 0 is fetched|is owned by", test_group_crashes.live)


def test_a_reader_who_is_shown_open_transactions_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = property(lambda log: log.high_watermark)
    monkeypatch.setattr(Log, "last_stable_offset", shown)
    expect_violation("copy .* of . is", test_transaction_crashes.live)


def test_a_zombie_that_may_commit_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(txn_decide, "_refuse_claim", lambda *_: None)
    expect_violation("is accepted when", test_transaction_crashes.live)
