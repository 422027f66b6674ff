"""The data source `odradek-log`: segment files as a table, with no broker.

    spark.read.format("odradek-log").load("/var/lib/kafka/data")

The path may be a URI (`log_files` says which); `topics` (a list with commas) and `columns` narrow
it down. For backfills, audits and forensics: all that is in the files is a row, aborted records and
markers too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from odradek.spark.source import TYPES

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

LOG_COLUMNS = {
    **TYPES,
    "producerId": "bigint",
    "producerEpoch": "int",
    "sequence": "int",
    "isTransactional": "boolean",
    "isControl": "boolean",
    "baseOffset": "bigint",
    "baseSequence": "int",
    "leaderEpoch": "int",
    "codec": "string",
    "batchBytes": "int",
}
KNOWN = ("path", "topics", "columns")


class OdradekLogSource(DataSource):
    """What Spark makes of `format("odradek-log")`."""

    @classmethod
    def name(cls) -> str:
        return "odradek-log"

    def schema(self) -> str:
        return ", ".join(f"{name} {LOG_COLUMNS[name]}" for name in self._columns())

    def reader(self, schema: StructType) -> DataSourceReader:
        from odradek.spark.option_errors import InvalidOptions
        from odradek.spark.options import GivenOptions

        options = GivenOptions(self.options)
        options.refuse_what_is_unknown(KNOWN, {})
        path = options.get("path")
        if path is None:
            options.problems.append("path is missing: load(a folder of log.dirs)")
        options.problems += [
            f"column {field.name} {field.dataType.simpleString()}: there is no such column"
            for field in schema.fields
            if LOG_COLUMNS.get(field.name) != field.dataType.simpleString()
        ]
        if options.problems or path is None:
            raise InvalidOptions(options.problems)
        topics = options.get("topics")
        chosen = None if topics is None else tuple(name.strip() for name in topics.split(","))
        return LogReader(path, chosen, schema.fieldNames())

    def _columns(self) -> Sequence[str]:
        from odradek.spark.option_errors import InvalidOptions

        chosen = self.options.get("columns")
        if chosen is None:
            return list(LOG_COLUMNS)
        names = [name.strip() for name in chosen.split(",")]
        if not set(names) <= set(LOG_COLUMNS) or len(set(names)) < len(names):
            raise InvalidOptions([f"columns={chosen}: must be some of {', '.join(LOG_COLUMNS)}"])
        return names


class LogReader(DataSourceReader):
    """A task for each segment."""

    def __init__(self, path: str, topics: Sequence[str] | None, columns: Sequence[str]) -> None:
        self._path = path
        self._topics = topics
        self._columns = tuple(columns)

    def partitions(self) -> list[InputPartition]:
        from odradek.spark.log_files import locate
        from odradek.spark.log_segments import find_segments

        files, folder = locate(self._path)
        found = find_segments(files, folder, self._topics)
        return [InputPartition(tuple(segment)) for segment in found]

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        from odradek.kafka.client.errors import TopicPartition
        from odradek.spark.arrow.decoder import lend_room
        from odradek.spark.log_files import locate
        from odradek.spark.log_rows import rows_of_entries
        from odradek.spark.log_segments import Segment, read_segment
        from odradek.spark.workers import begin_task

        begin_task()
        if partition is None or partition.value is None:
            return  # A folder without segments: Spark asks all the same.
        path, where, base_offset, is_newest = partition.value
        segment = Segment(path, TopicPartition(*where), base_offset, is_newest)
        for entries in read_segment(locate(self._path)[0], segment, lender=lend_room):
            yield from rows_of_entries(segment.partition, entries, self._columns)
