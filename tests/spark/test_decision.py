"""Decisions: the first proposal for the newest batch counts, whatever compaction leaves."""

from __future__ import annotations

from itertools import combinations

import pytest

from odradek.kafka.client.identity import Identity
from odradek.kafka.wire.records import Record
from odradek.runtime.errors import ProtocolError
from odradek.spark.decision import (
    Decision,
    Decisions,
    left_over,
    prefix_of,
    read_decision,
    transactional_id,
)


def decision(run: str, batch: int, query: str = "q") -> Decision:
    return Decision(query, run, batch, (Identity(batch, 0, f"{run}-{batch}"),))


def record(offset: int, proposal: Decision) -> Record:
    return Record(offset, 0, proposal.key, proposal.to_json())


def applied(records: list[Record]) -> Decisions:
    decisions = Decisions()
    for one in records:
        decisions.apply(one)
    return decisions


def test_a_decision_is_read_as_it_was_written() -> None:
    written = decision("r", 5)
    assert read_decision(record(0, written)) == written


def test_the_first_proposal_for_a_batch_counts() -> None:
    records = [record(0, decision("r1", 5)), record(1, decision("r2", 5))]
    assert applied(records).of("q", 5) == decision("r1", 5)


def test_the_newest_batch_is_the_one_that_is_known() -> None:
    decisions = applied([record(0, decision("r1", 5)), record(1, decision("r1", 6))])
    assert decisions.of("q", 6) == decision("r1", 6)
    assert decisions.of("q", 5) is None and decisions.is_over("q", 5)
    assert not decisions.is_over("q", 6)


def test_queries_know_nothing_of_each_other() -> None:
    decisions = applied([record(0, decision("r", 5, "q")), record(1, decision("s", 9, "p"))])
    assert decisions.of("q", 5) is not None and decisions.of("p", 9) is not None


def test_compaction_changes_no_decision() -> None:
    """Two runs of one query, one of them late with everything."""
    log = [
        record(n, decision(run, batch))
        for n, (run, batch) in enumerate(
            [("r1", 4), ("r2", 4), ("r1", 5), ("r2", 5), ("r2", 6), ("r1", 6)]
        )
    ]
    for end in range(1, len(log) + 1):
        whole = applied(log[:end])
        gone = [
            n
            for n in range(end)
            if any(log[later].key == log[n].key for later in range(n + 1, end))
        ]
        for count in range(len(gone) + 1):
            for missing in combinations(gone, count):
                left = [one for n, one in enumerate(log[:end]) if n not in missing]
                assert applied(left).newest == whole.newest


def test_a_run_whose_last_word_is_old_may_be_forgotten() -> None:
    decisions = applied([record(0, decision("r1", 5)), record(1, decision("r2", 6))])
    assert decisions.stale_runs(decision("r3", 7)) == ["r1"]
    decisions.apply(Record(2, 0, decision("r1", 5).key, None))
    assert decisions.stale_runs(decision("r3", 7)) == []


@pytest.mark.parametrize("value", [b"", b"{}", b"[]", b'{"batch_id": 1, "transactions": [1]}'])
def test_what_is_no_decision_is_refused(value: bytes) -> None:
    with pytest.raises(ProtocolError, match="offset 3: no decision"):
        applied([Record(3, 0, b"q/r", value)])


def test_neighbouring_batches_have_different_ids() -> None:
    ids = [transactional_id("p", "q", batch, "run", "x", 0) for batch in (4, 5, 6)]
    assert ids[0] == ids[2] != ids[1]
    assert ids[0].startswith(prefix_of("p", "q", 4))
    assert not ids[1].startswith(prefix_of("p", "q", 4))


def test_what_was_decided_for_is_not_left_over() -> None:
    one, other, newer = Identity(1, 0, "a"), Identity(2, 0, "b"), Identity(2, 1, "b")
    assert left_over([one, newer], [one, other]) == [newer]
