"""Appends of coordinators: reported once, when they are safe, in the order of the log."""

from __future__ import annotations

from functools import partial

from odradek.kafka.broker.partition import Partition
from odradek.kafka.broker.shards_line import Line, Outcome, Wanted
from odradek.kafka.storage.appending import Appended
from odradek.kafka.wire.batch_writer import write_batch
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.records import Record
from tests.kafka.broker.coordinated import until
from tests.kafka.broker.served import TOPIC_ID, Served, state_of, with_broker

NOW = 1_000_000
BATCH = bytes(write_batch([Record(0, NOW, b"k", b"v")]))
Reports = list[tuple[str, int | ErrorCode]]


def said(outcome: Outcome) -> int | ErrorCode:
    return outcome.first_offset if isinstance(outcome, Appended) else outcome


class Desk:
    """Who wants things appended, and notes what is reported."""

    def __init__(self, served: Served, partition: Partition) -> None:
        self.line = Line(served.broker, partition)
        self.reports: Reports = []

    def append(self, *names: str, timeout_ms: int = 60_000, is_for_all: bool = True) -> None:
        wanted = [
            Wanted(BATCH, timeout_ms, partial(self._report, name), is_for_all) for name in names
        ]
        self.line.append(wanted, NOW)

    def _report(self, name: str, outcome: Outcome) -> None:
        self.reports.append((name, said(outcome)))
        if name == "first":
            self.append("of the first")


def replicated(served: Served) -> Partition:
    return served.lead(replicas=(1, 2), isr=(1, 2))


@with_broker()
async def test_without_followers_an_append_is_safe_at_once(served: Served) -> None:
    partition = served.lead()
    desk = Desk(served, partition)
    desk.append("a", "b")
    assert desk.reports == [("a", 0), ("b", 1)]
    assert not partition.watchers


@with_broker()
async def test_what_a_report_brings_about_comes_after_all_that_was_wanted(served: Served) -> None:
    desk = Desk(served, served.lead())
    desk.append("first", "second")
    assert desk.reports == [("first", 0), ("second", 1), ("of the first", 2)]


@with_broker()
async def test_followers_are_waited_for(served: Served) -> None:
    partition = replicated(served)
    desk = Desk(served, partition)
    desk.append("a")
    desk.append("b")
    assert desk.reports == []
    partition.fetched_by(2, 1, 0, NOW)
    assert desk.reports == [("a", 0)]
    partition.fetched_by(2, 2, 0, NOW)
    assert desk.reports == [("a", 0), ("b", 1)]
    assert not partition.watchers


@with_broker()
async def test_the_leader_alone_may_be_enough(served: Served) -> None:
    desk = Desk(served, replicated(served))
    desk.append("a", is_for_all=False)
    assert desk.reports == [("a", 0)]


@with_broker()
async def test_who_waits_for_too_long_steps_out_of_the_line(served: Served) -> None:
    partition = replicated(served)
    desk = Desk(served, partition)
    desk.append("patient")
    desk.append("hasty", timeout_ms=1)
    await until(lambda: desk.reports)
    assert desk.reports == [("hasty", ErrorCode.REQUEST_TIMED_OUT)]
    partition.fetched_by(2, 2, 0, NOW)
    assert desk.reports[1:] == [("patient", 0)]


@with_broker()
async def test_all_fail_when_another_leads(served: Served) -> None:
    partition = replicated(served)
    desk = Desk(served, partition)
    desk.append("a", "b")
    served.broker.partitions.follow(state_of(0, 2, 1, (1, 2)), "t", TOPIC_ID)
    assert desk.reports == [(name, ErrorCode.NOT_LEADER_OR_FOLLOWER) for name in "ab"]


@with_broker(min_insync_replicas=2)
async def test_too_few_replicas_take_nothing(served: Served) -> None:
    partition = served.lead(replicas=(1, 2), isr=(1,))
    desk = Desk(served, partition)
    desk.append("a")
    assert desk.reports == [("a", ErrorCode.NOT_ENOUGH_REPLICAS)]
    assert partition.log.end_offset == 0


@with_broker(log_flush_interval_messages=1)
async def test_where_a_flush_is_promised_it_is_waited_for(served: Served) -> None:
    partition = served.lead()
    desk = Desk(served, partition)
    desk.append("a")
    assert desk.reports == []
    await until(lambda: desk.reports)
    assert desk.reports == [("a", 0)]
    assert partition.log.recovery_point == 1


@with_broker()
async def test_who_still_waits_when_a_line_is_closed_hears_that_another_leads(
    served: Served,
) -> None:
    partition = replicated(served)
    desk = Desk(served, partition)
    desk.append("a", "b")
    desk.line.close()
    partition.fetched_by(2, 2, 0, NOW)
    assert desk.reports == [(name, ErrorCode.NOT_LEADER_OR_FOLLOWER) for name in "ab"]
    assert not partition.watchers


@with_broker(log_flush_interval_messages=1)
async def test_what_is_flushed_while_a_line_is_closed_is_reported_once(served: Served) -> None:
    partition = served.lead()
    desk = Desk(served, partition)
    desk.append("a")
    desk.line.close()
    await until(lambda: not served.broker.tasks.names())
    assert partition.log.recovery_point == 1
    assert desk.reports == [("a", ErrorCode.NOT_LEADER_OR_FOLLOWER)]
