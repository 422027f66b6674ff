"""Python sources of Spark that do next to nothing: what is left is Spark's own cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.streaming.datasource import ReadAllAvailable, SupportsTriggerAvailableNow

from odradek.spark.source import TYPES

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_BYTES = 1 << 20  # As our sources give Spark.


class BareSource(DataSource):
    """`batches` micro-batches of `partitions` tasks, each of which gives one row."""

    @classmethod
    def name(cls) -> str:
        return "bare"

    def schema(self) -> str:
        return "value binary"

    def reader(self, schema: Any) -> DataSourceReader:
        return BareReader(int(self.options.get("partitions", "1")))

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: N802
        partitions, batches = (int(self.options[name]) for name in ("partitions", "batches"))
        return BareStreamReader(partitions, batches)


def one_row() -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    yield pa.RecordBatch.from_pydict({"value": pa.array([b"v"], pa.binary())})


class BareReader(DataSourceReader):
    def __init__(self, count: int) -> None:
        self._count = count

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(number) for number in range(self._count)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return one_row()


class BareStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, count: int, batches: int) -> None:
        self._count = count
        self._batches = batches

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {"at": 0}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """There is nothing to prepare."""

    def getDefaultReadLimit(self) -> ReadAllAvailable:  # noqa: N802
        return ReadAllAvailable()

    def latestOffset(self, start: dict[str, int], limit: Any) -> dict[str, int]:  # noqa: N802
        return {"at": min(start["at"] + 1, self._batches)}

    def partitions(self, start: Any, end: Any) -> list[InputPartition]:
        return [InputPartition(number) for number in range(self._count)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return one_row()

    def commit(self, end: Any) -> None:
        """Nobody is told."""


class ConstantSource(DataSource):
    """One Arrow batch, over and over: `rows` in the columns of a topic, with such values."""

    @classmethod
    def name(cls) -> str:
        return "constant"

    def schema(self) -> str:
        return ", ".join(f"{name} {TYPES[name]}" for name in self.options["columns"].split(","))

    def reader(self, schema: Any) -> DataSourceReader:
        given = self.options
        counts = int(given["rows"]), int(given["valueBytes"]), int(given["partitions"])
        return ConstantReader(given["columns"].split(","), *counts)


class ConstantReader(DataSourceReader):
    def __init__(self, columns: Sequence[str], rows: int, value_bytes: int, count: int) -> None:
        self._columns = tuple(columns)
        self._rows = rows
        self._value_bytes = value_bytes
        self._count = count

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(number) for number in range(self._count)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        in_batch = BATCH_BYTES // self._value_bytes
        batch = constant_batch(self._columns, in_batch, self._value_bytes)
        for left in range(self._rows // self._count, 0, -in_batch):
            yield batch.slice(0, min(left, in_batch))


def constant_batch(columns: tuple[str, ...], rows: int, value_bytes: int) -> pa.RecordBatch:
    import pyarrow as pa

    from odradek.kafka.client.errors import TopicPartition
    from odradek.spark.arrow import columns as arrow

    cells = {"key": bytes(12), "value": bytes(value_bytes), "offset": 0, "timestamp": 0}
    varying = {
        name: pa.array([cells[name]] * rows, arrow.TYPES[name])
        for name in columns
        if name in arrow.VARYING
    }
    return arrow.assemble(TopicPartition("constant", 0), 0, columns, rows, varying)
