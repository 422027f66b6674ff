"""Exactly once: executors write in open transactions, the driver decides and ends them.

1. A task looks at the decisions. If its batch is decided, somebody wrote it already: it writes
   nothing. Else it writes in a transaction of its own, which it leaves open.
2. The driver stores one decision for the batch: the transactions of all its tasks. If another
   driver was first, that one's count.
3. It commits the transactions of the decision, and undoes what else is open for the batch: of tasks
   that failed, of executors that were killed, of drivers that are no more.

If it dies between 2 and 3, the batch is run again, step 1 finds the decision, and the next driver
goes on with step 3. A transaction must not time out in between: that would be a loss, and is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import getpid
from typing import TYPE_CHECKING
from uuid import uuid4

from pyspark.sql.datasource import WriterCommitMessage

from odradek.kafka.client.cluster import Cluster, shared_cluster
from odradek.kafka.client.errors import name_of
from odradek.kafka.client.identity import Identity
from odradek.kafka.client.transactions import Transaction, end_transaction, open_transactions
from odradek.runtime.errors import OdradekError
from odradek.spark.decision import Decision, left_over, prefix_of, transactional_id
from odradek.spark.decision_log import DecisionLog
from odradek.spark.sink_options import SinkOptions
from odradek.spark.write_task import write_in_transaction

if TYPE_CHECKING:
    import pyarrow as pa

QUERY_ID, BATCH_ID, RUN_ID = "sql.streaming.queryId", "streaming.sql.batchId", "spark.jobGroup.id"


class OutputLost(OdradekError):
    """Decided transactions were not there to be committed any more."""


class NoStream(OdradekError):
    """A task that no streaming query runs."""


class CheckpointBehind(OdradekError):
    """A batch is run anew though later ones have been decided."""


@dataclass(frozen=True, slots=True)
class Place:
    """Which micro-batch of which run of which query a task belongs to."""

    query_id: str
    run_id: str
    batch_id: int


@dataclass
class Written(WriterCommitMessage):
    """What a task has done; no transaction: nothing was to be written, or it was before."""

    place: Place
    count: int
    transaction: Identity | None


def current_place() -> Place:
    """Where the task that runs in this process belongs, as Spark tells it."""
    from pyspark import TaskContext

    context = TaskContext.get()
    names = (QUERY_ID, RUN_ID, BATCH_ID)
    found = [context.getLocalProperty(name) if context else None for name in names]
    query_id, run_id, batch_id = found
    if query_id is None or run_id is None or batch_id is None:
        raise NoStream(f"exactly-once needs {', '.join(names)}, which this task has not")
    return Place(query_id, run_id, int(batch_id))


def write_task(options: SinkOptions, batches: Iterable[pa.RecordBatch], place: Place) -> Written:
    """Write the rows of a task, unless its batch is decided."""
    cluster = shared_cluster(options.producer.client)
    decisions = _log(cluster, options, place.query_id).read()
    if decisions.is_over(place.query_id, place.batch_id):
        raise CheckpointBehind(
            f"query {place.query_id} runs batch {place.batch_id}, but"
            f" {decisions.newest[place.query_id].batch_id} is decided in {options.decisions_topic}"
        )
    if decisions.of(place.query_id, place.batch_id) is not None:
        return Written(place, sum(batch.num_rows for batch in batches), None)
    rows = iter(batches)
    first = next((batch for batch in rows if batch.num_rows), None)
    if first is None:
        return Written(place, 0, None)
    transaction = Transaction(cluster, options.producer, _next_id(options, place))
    count = write_in_transaction(options, _chain(first, rows), transaction)
    return Written(place, count, transaction.identity)


def _chain(first: pa.RecordBatch, rest: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
    yield first
    yield from rest


def commit_batch(options: SinkOptions, messages: Sequence[Written], batch_id: int) -> None:
    """Decide, and carry it out."""
    if not messages:
        return
    place = messages[0].place
    assert all(message.place == place for message in messages) and place.batch_id == batch_id
    ours = tuple(message.transaction for message in messages if message.transaction)
    cluster = shared_cluster(options.producer.client)
    log = _log(cluster, options, place.query_id)
    decided = log.propose(Decision(place.query_id, place.run_id, batch_id, ours))
    for identity in decided.transactions:
        _commit(cluster, log, decided, identity)
    prefix = prefix_of(options.transactional_id_prefix, place.query_id, batch_id)
    candidates = left_over(open_transactions(cluster, prefix), decided.transactions)
    # Only as long as the next batch is not decided is it sure whose they are.
    if candidates and not log.read().is_over(place.query_id, batch_id):
        for identity in candidates:
            end_transaction(cluster, identity, is_committed=False)


def _commit(cluster: Cluster, log: DecisionLog, decided: Decision, identity: Identity) -> None:
    code = end_transaction(cluster, identity, is_committed=True)
    # A refusal may mean that another driver was here before, and went on.
    if code and not log.read().is_over(decided.query_id, decided.batch_id):
        raise OutputLost(
            f"batch {decided.batch_id} of query {decided.query_id}: the transaction"
            f" {identity.transactional_id} was decided for, but cannot be committed:"
            f" {name_of(code)}. It may have been open for longer than"
            " kafka.transaction.timeout.ms"
        )


def abort_batch(options: SinkOptions, messages: Sequence[Written | None]) -> None:
    """Undo what tasks wrote, if some task failed.

    If none did, the commit was tried: it may have been decided, or be decided yet. Whoever runs the
    batch again will see, and clean up.
    """
    if all(message is not None for message in messages):
        return
    cluster = shared_cluster(options.producer.client)
    for message in messages:
        if message is not None and message.transaction is not None:
            end_transaction(cluster, message.transaction, is_committed=False)


_logs: dict[tuple[int, SinkOptions, str], DecisionLog] = {}
_numbers: dict[tuple[int, Place], int] = {}
_process: dict[int, str] = {}


def _log(cluster: Cluster, options: SinkOptions, query_id: str) -> DecisionLog:
    """The log that this process has read a part of already, if it has."""
    key = getpid(), options, query_id
    known = _logs.get(key)
    if known is None or known.cluster is not cluster:
        known = DecisionLog(cluster, options.producer, options.decisions_topic, query_id)
        _logs[key] = known
    return known


def _next_id(options: SinkOptions, place: Place) -> str:
    """An id that no other attempt has for this batch: processes and their tasks are counted."""
    process = _process.setdefault(getpid(), uuid4().hex[:8])
    for known in [key for key in _numbers if key != (getpid(), place)]:
        del _numbers[known]
    number = _numbers[getpid(), place] = _numbers.get((getpid(), place), -1) + 1
    prefix = options.transactional_id_prefix
    return transactional_id(prefix, place.query_id, place.batch_id, place.run_id, process, number)
