"""A Python source of Spark that does next to nothing: what is left is Spark's own cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.streaming.datasource import ReadAllAvailable, SupportsTriggerAvailableNow

if TYPE_CHECKING:
    import pyarrow as pa


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
