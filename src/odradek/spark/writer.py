"""Batch queries that write: all rows at least once, by as many tasks as there are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from odradek.spark.sink_options import SinkOptions

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass
class Sent(WriterCommitMessage):
    """How many rows a task has written."""

    count: int


class BatchWriter(DataSourceArrowWriter):
    """What is written cannot be taken back: there is nothing to commit, and nothing to abort."""

    def __init__(self, options: SinkOptions) -> None:
        self._options = options

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Sent:
        from odradek.spark.workers import begin_task
        from odradek.spark.write_task import write_plainly

        begin_task()
        return Sent(write_plainly(self._options, iterator))
