"""Each batch counts once: tasks fail, executors vanish, drivers die at any step and come back late.

Here tasks and drivers are called as Spark calls them, so that they can die anywhere; what Spark
itself does with them is `test_sink_crashes`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from random import Random

import pyarrow as pa
import pytest

from odradek.kafka.client.cluster import shared_cluster
from odradek.kafka.client.fetcher import Fetcher, OffsetRange
from odradek.kafka.client.identity import Identity
from odradek.kafka.client.offsets import LATEST, list_offsets
from odradek.kafka.client.producer_settings import producer_settings
from odradek.kafka.client.settings import client_settings
from odradek.kafka.client.transactions import end_transaction, init_transactional, open_transactions
from odradek.spark.arrow.decoder import decode
from odradek.spark.decision import Decision
from odradek.spark.decision_log import DecisionLog, ensure_topic
from odradek.spark.sink_options import SinkOptions
from odradek.spark.transactions import (
    CheckpointBehind,
    OutputLost,
    Place,
    Written,
    abort_batch,
    commit_batch,
    write_task,
)
from tests.kafka.client.topics import Topics
from tests.waiting import wait_until

TASKS = 2
ROWS = 5


class Query:
    """One streaming query and its topic, run by one driver after another."""

    def __init__(self, topics: Topics, name: str) -> None:
        self.topic = topics.create(partitions=2)
        servers = {"bootstrap.servers": topics.bootstrap_servers, "retry.backoff.ms": "5"}
        settings = producer_settings(servers, transaction_timeout_ms=60_000)
        self.options = SinkOptions(producer=settings, topic=self.topic, is_exactly_once=True)
        self.cluster = shared_cluster(settings.client)
        self.name = f"{name}-{self.topic}"
        self._reading = client_settings({**servers, "isolation.level": "read_committed"})
        ensure_topic(self.cluster, self.options.decisions_topic)

    def run_task(self, run: str, batch: int, task: int) -> Written:
        first = (batch * TASKS + task) * ROWS
        rows = [{"key": b"%d" % n, "value": b"%d" % n} for n in range(first, first + ROWS)]
        schema = pa.schema([("key", pa.binary()), ("value", pa.binary())])
        place = Place(self.name, run, batch)
        return write_task(self.options, [pa.RecordBatch.from_pylist(rows, schema)], place)

    def run_tasks(self, run: str, batch: int) -> list[Written]:
        return [self.run_task(run, batch, task) for task in range(TASKS)]

    def decide(self, messages: list[Written]) -> Decision:
        """What a driver does that dies once it has decided."""
        place = messages[0].place
        ours = tuple(one.transaction for one in messages if one.transaction)
        log = DecisionLog(
            self.cluster, self.options.producer, self.options.decisions_topic, self.name
        )
        return log.propose(Decision(self.name, place.run_id, place.batch_id, ours))

    def committed(self) -> list[int]:
        """The numbers that a reader of committed data finds."""
        wait_until(lambda: not self.open_now())
        cluster = shared_cluster(self._reading)
        found: list[int] = []
        for partition in cluster.partitions_of([self.topic]):
            end = list_offsets(cluster, {partition: LATEST})[partition] or 0
            for fetched in Fetcher(cluster, [OffsetRange(partition, 0, end)] if end else []):
                for batch in decode(fetched, end, ("value",)):
                    found += [int(value) for value in batch.column(0).to_pylist()]
        return sorted(found)

    def open_now(self) -> list[Identity]:
        return open_transactions(self.cluster, f"odradek-{self.name}")


def expected(batches: int) -> list[int]:
    return list(range(batches * TASKS * ROWS))


def test_batches_without_trouble_count_once(topics: Topics) -> None:
    query = Query(topics, "plain")
    for batch in range(3):
        commit_batch(query.options, query.run_tasks("r1", batch), batch)
    assert query.committed() == expected(3)


def test_nothing_counts_before_the_driver_says_so(topics: Topics) -> None:
    query = Query(topics, "early")
    query.run_tasks("r1", 0)
    assert len(query.open_now()) == TASKS


def test_a_batch_that_was_decided_is_not_written_again(topics: Topics) -> None:
    query = Query(topics, "decided")
    query.decide(query.run_tasks("r1", 0))
    again = query.run_tasks("r2", 0)
    assert [message.transaction for message in again] == [None] * TASKS
    commit_batch(query.options, again, 0)
    assert query.committed() == expected(1)


def test_what_a_dead_driver_left_undecided_is_undone(topics: Topics) -> None:
    query = Query(topics, "undecided")
    query.run_tasks("r1", 0)
    commit_batch(query.options, query.run_tasks("r2", 0), 0)
    assert query.committed() == expected(1)


def test_a_ghost_that_decides_first_wins_and_one_that_is_late_loses(topics: Topics) -> None:
    query = Query(topics, "ghost")
    ghost, driver = query.run_tasks("ghost", 0), query.run_tasks("r2", 0)
    query.decide(ghost)
    commit_batch(query.options, driver, 0)
    ghost, driver = query.run_tasks("ghost", 1), query.run_tasks("r2", 1)
    commit_batch(query.options, driver, 1)
    commit_batch(query.options, ghost, 1)
    assert query.committed() == expected(2)


def test_a_failed_batch_is_undone_unless_it_may_have_been_decided(topics: Topics) -> None:
    query = Query(topics, "failed")
    abort_batch(query.options, [query.run_task("r1", 0, 0), None])
    wait_until(lambda: not query.open_now())
    messages = query.run_tasks("r1", 0)
    query.decide(messages)
    abort_batch(query.options, messages)  # The commit was tried, and failed on its way.
    commit_batch(query.options, query.run_tasks("r2", 0), 0)
    assert query.committed() == expected(1)


def test_decided_output_that_timed_out_is_told_as_lost(topics: Topics) -> None:
    query = Query(topics, "lost")
    messages = query.run_tasks("r1", 0)
    query.decide(messages)
    lost = messages[0].transaction
    assert lost is not None and lost.transactional_id is not None
    init_transactional(query.cluster, lost.transactional_id, 60_000)  # As a timeout: a new epoch.
    with pytest.raises(OutputLost, match=r"batch 0.*cannot be committed"):
        commit_batch(query.options, query.run_tasks("r2", 0), 0)


def test_a_checkpoint_from_before_is_refused(topics: Topics) -> None:
    query = Query(topics, "rewound")
    for batch in range(2):
        commit_batch(query.options, query.run_tasks("r1", batch), batch)
    with pytest.raises(CheckpointBehind, match="runs batch 0, but 1 is decided"):
        query.run_tasks("r2", 0)


class Driver:
    """Runs batches until it dies of a random cause; its successor begins where it died."""

    def __init__(self, query: Query, random: Random) -> None:
        self.query = query
        self.random = random
        self.ghosts: list[list[Written]] = []

    def run_batch(self, run: str, batch: int) -> bool:
        """Run one batch; False: the driver died on the way."""
        random, query = self.random, self.query
        messages = []
        for task in range(TASKS):
            while random.random() < 0.25:
                query.run_task(run, batch, task)  # An executor was killed after it had written.
            messages.append(query.run_task(run, batch, task))
            if random.random() < 0.1:
                return False
        fate = random.choice(["well", "well", "undecided", "decided", "half done", "unheard"])
        match fate:
            case "undecided":
                self.ghosts.append(messages)
                return False
            case "decided":
                query.decide(messages)
            case "half done":
                first, *_ = query.decide(messages).transactions
                assert not end_transaction(query.cluster, first, is_committed=True)
            case _:
                commit_batch(query.options, messages, batch)
        return fate == "well"

    def haunt(self, batch: int) -> None:
        """Let a driver that was thought dead go on with what it had."""
        for messages in self.ghosts:
            if messages[0].place.batch_id == batch and self.random.random() < 0.5:
                commit_batch(self.query.options, messages, batch)
        self.ghosts.clear()


@pytest.mark.parametrize("seed", range(6))
def test_inputs_and_outputs_are_equal_however_drivers_and_tasks_die(
    topics: Topics, seed: int
) -> None:
    random, runs = Random(seed), iter(range(1000))
    query = Query(topics, f"chaos{seed}")
    driver, run = Driver(query, random), "run0"
    for batch in range(6):
        while not driver.run_batch(run, batch):
            run = f"run{next(runs)}"
            driver.haunt(batch)
    assert query.committed() == expected(6)


def test_options_that_differ_have_logs_of_their_own(topics: Topics) -> None:
    query = Query(topics, "other")
    other = replace(query.options, decisions_topic=topics.create(name="decisions"))
    write = partial(query.run_task, "r1", 0)
    commit_batch(query.options, [write(0)], 0)
    query.options = other
    assert write(1).transaction is not None
