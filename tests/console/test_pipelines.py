"""Queries are shown as they told last, and how far behind they are is counted anew."""

from __future__ import annotations

import json
from dataclasses import replace

from odradek.console.pipelines import SILENT_MS, Pipeline, Reports, standings_in
from odradek.kafka.client.errors import TopicPartition
from odradek.pipelines.standing import Standing

FIRST = Standing("q1", "one", 1000, offsets={"t": {"0": 5, "1": 10}})


def told(*standings: Standing) -> list[bytes | None]:
    return [json.dumps(it.to_json()).encode() for it in standings]


def test_the_last_word_of_a_query_counts_and_the_newest_stands_last() -> None:
    second, later = Standing("q2", "two", 1500), replace(FIRST, time_ms=2000, rows=7)
    reports = Reports()
    reports.take(told(FIRST, second))
    reports.take(told(later))
    assert list(reports.standings.values()) == [second, later]


def test_what_is_no_report_is_passed_over() -> None:
    strange = [None, b"", b"[]", b"3", b"{", b'{"query": "q"}', b'{"offsets": 1}']
    wrong = json.dumps(FIRST.to_json() | {"offsets": {"t": 5}}).encode()
    newer = json.dumps(FIRST.to_json() | {"mood": "good"}).encode()
    assert list(standings_in([*strange, wrong])) == []
    assert list(standings_in([newer])) == [FIRST]


def test_lag_is_counted_from_where_partitions_end_now() -> None:
    ends = {TopicPartition("t", 0): 25, TopicPartition("t", 1): 9}
    assert Pipeline(FIRST, ends).lag == 20, "a topic that was made anew may end before"
    assert Pipeline(FIRST, {TopicPartition("t", 1): 12}).lag == 2
    assert Pipeline(FIRST).lag is None
    assert Pipeline(Standing("m", "mirror", 0, left=4)).lag == 4


def test_a_query_runs_is_silent_has_ended_or_has_failed() -> None:
    pipeline = Pipeline(FIRST)
    assert pipeline.state(FIRST.time_ms + SILENT_MS) == "running"
    assert pipeline.state(FIRST.time_ms + SILENT_MS + 1) == "silent"
    assert Pipeline(FIRST.ended(2000)).state(10**9) == "ended"
    assert Pipeline(FIRST.ended(2000, "no disk")).state(2000) == "failed"
