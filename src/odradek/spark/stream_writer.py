"""Streaming queries that write: each micro-batch at least once, or exactly once.

Spark makes a writer anew for each micro-batch and for each commit, so nothing is remembered here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamWriter, WriterCommitMessage

from odradek.spark.api import DataSourceStreamArrowWriter
from odradek.spark.sink_options import SinkOptions

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

ROWS_AT_ONCE = 10_000


class _Delivery:
    """Both kinds of delivery, for rows in Arrow batches."""

    def __init__(self, options: SinkOptions) -> None:
        self._options = options

    def commit(self, messages: Sequence[Any], batchId: int) -> None:  # noqa: N803
        from odradek.spark.transactions import commit_batch

        if self._options.is_exactly_once:
            commit_batch(self._options, messages, batchId)

    def abort(self, messages: Sequence[Any], batchId: int) -> None:  # noqa: N803
        from odradek.spark.transactions import abort_batch

        if self._options.is_exactly_once:
            abort_batch(self._options, messages)

    def _write(self, batches: Iterable[pa.RecordBatch]) -> WriterCommitMessage:
        from odradek.spark.transactions import current_place, write_task
        from odradek.spark.workers import begin_task
        from odradek.spark.write_task import write_plainly
        from odradek.spark.writer import Sent

        begin_task()
        if self._options.is_exactly_once:
            return write_task(self._options, batches, current_place())
        return Sent(write_plainly(self._options, batches))


class StreamArrowWriter(_Delivery, DataSourceStreamArrowWriter):
    """Takes Arrow batches, from Spark 4.1 on."""

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        return self._write(iterator)


class StreamRowWriter(_Delivery, DataSourceStreamWriter):
    """Takes rows, and makes Arrow batches of them."""

    def __init__(self, options: SinkOptions, schema: StructType) -> None:
        super().__init__(options)
        self._schema = schema

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        return self._write(arrow_batches(iterator, self._schema))


def arrow_batches(rows: Iterable[Any], schema: StructType) -> Iterator[pa.RecordBatch]:
    """Rows in Arrow batches, some thousands at a time."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    arrow_schema, remaining = to_arrow_schema(schema), iter(rows)
    while some := list(islice(remaining, ROWS_AT_ONCE)):
        dicts = [row.asDict(recursive=True) for row in some]
        yield pa.RecordBatch.from_pylist(dicts, arrow_schema)
