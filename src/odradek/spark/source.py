"""The data source `odradek`: topics of Kafka or Odradek as tables and streams.

    spark.read.format("odradek").option("kafka.bootstrap.servers", "localhost:9092")
        .option("subscribe", "orders").load()
    orders.write.format("odradek").option("kafka.bootstrap.servers", "localhost:9092")
        .option("topic", "copies").mode("append").save()

Spark imports this when it looks for data sources, so it brings next to nothing with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
)

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

TYPES = {
    "key": "binary",
    "value": "binary",
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "timestamp": "timestamp",
    "timestampType": "int",
    "headers": "array<struct<key:string,value:binary>>",
}


class OdradekSource(DataSource):
    """What Spark makes of `format("odradek")`."""

    @classmethod
    def name(cls) -> str:
        return "odradek"

    def schema(self) -> str:
        """The columns of Spark's Kafka source, or those that the option `columns` names."""
        return ", ".join(f"{name} {TYPES[name]}" for name in self._columns())

    def reader(self, schema: StructType) -> DataSourceReader:
        from odradek.spark.api import pushes_filters
        from odradek.spark.options import parse_options
        from odradek.spark.reader import BatchReader, FilteringBatchReader

        options = parse_options(self.options, is_stream=False)
        kind = FilteringBatchReader if pushes_filters() else BatchReader
        return kind(options, _checked(schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        from odradek.spark.options import parse_options
        from odradek.spark.stream import StreamReader

        return StreamReader(parse_options(self.options, is_stream=True), _checked(schema))

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        from odradek.spark.option_errors import InvalidOptions
        from odradek.spark.sink_options import parse_sink_options
        from odradek.spark.writer import BatchWriter

        if overwrite:
            raise InvalidOptions(["mode overwrite: a topic can only be appended to"])
        return BatchWriter(parse_sink_options(self.options, schema, is_stream=False))

    def streamWriter(  # noqa: N802
        self, schema: StructType, overwrite: bool
    ) -> DataSourceStreamWriter:
        """Called on the driver before each micro-batch, and before each commit."""
        from odradek.spark.api import WRITES_STREAMS_IN_ARROW
        from odradek.spark.sink_options import parse_sink_options
        from odradek.spark.stream_writer import StreamArrowWriter, StreamRowWriter

        options = parse_sink_options(self.options, schema, is_stream=True)
        if options.is_exactly_once:
            from odradek.kafka.client.cluster import shared_cluster
            from odradek.spark.decision_log import ensure_topic

            ensure_topic(shared_cluster(options.producer.client), options.decisions_topic)
        if WRITES_STREAMS_IN_ARROW:
            return StreamArrowWriter(options)
        return StreamRowWriter(options, schema)

    def _columns(self) -> Sequence[str]:
        from odradek.spark.option_errors import InvalidOptions

        chosen = self.options.get("columns")
        if chosen is None:
            has_headers = self.options.get("includeHeaders", "false").strip().lower() == "true"
            return [name for name in TYPES if has_headers or name != "headers"]
        names = [name.strip() for name in chosen.split(",")]
        if not set(names) <= set(TYPES) or len(set(names)) < len(names):
            raise InvalidOptions([f"columns={chosen}: must be some of {', '.join(TYPES)}"])
        return names


def _checked(schema: StructType) -> list[str]:
    """The names of the columns, if they are ours; a schema by the user may be a part of it."""
    from odradek.spark.option_errors import InvalidOptions

    problems = [
        f"column {field.name} {field.dataType.simpleString()}: there is "
        + (f"{field.name} {TYPES[field.name]}" if field.name in TYPES else "no such column")
        for field in schema.fields
        if TYPES.get(field.name) != field.dataType.simpleString()
    ]
    if problems:
        raise InvalidOptions(problems)
    return list(schema.fieldNames())
