"""Streaming queries: what came since the last micro-batch, within the limits of the options.

Offsets travel as Spark's connector writes them, so a checkpoint says the same under both. New
partitions are read from their beginning. From Spark 4.2 on the engine tells where it stands and
how much it wants; before that we remember where we stood, and `maxOffsetsPerTrigger` makes a query
over what is available now end after its first micro-batch, which is worth a warning.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from odradek.kafka.client.errors import KafkaClientError
from odradek.kafka.client.ranges import OffsetRange
from odradek.spark.api import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
)
from odradek.spark.data_loss import report_data_loss
from odradek.spark.offsets import Json, Offsets, from_json, to_json
from odradek.spark.options import SourceOptions
from odradek.spark.planning import count_new, limit_rate
from odradek.spark.reader import plan, read_partition

if TYPE_CHECKING:
    import pyarrow as pa

    from odradek.kafka.client.cluster import Cluster
    from odradek.spark.resolving import Resolver


LOG = logging.getLogger(__name__)
ENGINE_ASKS = hasattr(DataSourceStreamReader, "getDefaultReadLimit")


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """One stream. The driver's process keeps it as long as the query runs."""

    def __init__(self, options: SourceOptions, columns: Sequence[str]) -> None:
        self._options = options
        self._columns = tuple(columns)
        self._position: Offsets | None = None
        self._latest: Offsets | None = None
        self._available_now: Offsets | None = None
        self._is_available_now = False
        self._triggered_at: float | None = None
        self._committed: Offsets | None = None  # To the group, or where it was found.

        if options.offsets_per_trigger_max is not None and not ENGINE_ASKS:
            LOG.warning(
                "maxOffsetsPerTrigger: this Spark ends Trigger.AvailableNow after one batch"
            )

    def initialOffset(self) -> Json:  # noqa: N802
        resolver = self._resolver()
        self._position = resolver.start(resolver.partitions())
        return to_json(self._position)

    def latestOffset(  # noqa: N802
        self, start: dict[str, Any] | None = None, limit: ReadLimit | None = None
    ) -> Json:
        """Where the next micro-batch ends; where it starts if there is to be none."""
        known = self._known(start)
        self._commit_to_group(known)
        latest = self._latest = self._find_latest(known)
        if isinstance(limit, ReadAllAvailable):
            return to_json(latest or known)
        if self._is_too_early(known, latest):
            return to_json(known)
        rows_max = self._options.offsets_per_trigger_max
        if rows_max is not None:
            latest = limit_rate(rows_max, self._with_new(known, latest), latest)
        return to_json(latest or known)

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        if self._options.offsets_per_trigger_max is not None:
            return ReadMaxRows(self._options.offsets_per_trigger_max)
        if self._options.offsets_per_trigger_min is not None:
            return ReadMinRows(self._options.offsets_per_trigger_min)
        return ReadAllAvailable()

    def reportLatestOffset(self) -> Json | None:  # noqa: N802
        return to_json(self._latest) if self._latest else None

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """From now on, what there is at the first look is all there is."""
        self._is_available_now = True

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        self._position = from_json(end)
        return plan(self._options, self._ranges(from_json(start), from_json(end)))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return read_partition(self._options, partition, self._columns)

    def commit(self, end: dict[str, Any]) -> None:
        """The checkpoint holds the offsets; a group is told if it is to be."""
        self._commit_to_group(from_json(end))

    def _commit_to_group(self, done: Offsets) -> None:
        """Commit where the stream stands, if it has moved.

        Spark does not tell when the last batch of a query is done; but when it asks for the next
        one it says where it stands, and it asks once more before it ends. Where a stream stood at
        first is nothing that it has done.
        """
        group_id = self._options.commit_group_id
        if group_id is None or done == self._committed:
            return
        is_first, self._committed = self._committed is None, done
        if not is_first:
            from odradek.kafka.client.group_offsets import commit_offsets

            try:
                commit_offsets(self._cluster(), group_id, done)
            except KafkaClientError as error:
                # Progress is kept in the checkpoint: the query need not suffer.
                LOG.warning("offsets are not committed to group %s: %s", group_id, error)

    def __getstate__(self) -> dict[str, Any]:
        """What executors need, which read, and know nothing of where the stream stands."""
        return {"_options": self._options, "_columns": self._columns}

    def _resolver(self) -> Resolver:
        from odradek.spark.resolving import Resolver

        return Resolver(self._cluster(), self._options)

    def _cluster(self) -> Cluster:
        """What the driver knows; it lives as long as the query, so it may be told of changes."""
        from odradek.kafka.client.cluster import shared_cluster

        return shared_cluster(replace(self._options.client, is_told=True))

    def _known(self, start: dict[str, Any] | None) -> Offsets:
        if start is not None:
            return from_json(start)
        if self._position is None:
            self.initialOffset()
        assert self._position is not None
        return self._position

    def _find_latest(self, known: Offsets) -> Offsets:
        if not self._is_available_now:
            return self._resolver().latest(known)
        if self._available_now is None:
            self._available_now = self._resolver().latest(known)
        return self._available_now

    def _with_new(self, known: Offsets, latest: Offsets) -> Offsets:
        """What is known, and the beginnings of partitions that are new."""
        new = latest.keys() - known.keys()
        return {**known, **self._resolver().earliest(new)} if new else known

    def _is_too_early(self, known: Offsets, latest: Offsets) -> bool:
        """Whether to wait for more, which a query over what is available now never does."""
        rows_min = self._options.offsets_per_trigger_min
        if rows_min is None or self._is_available_now:
            return False
        now = monotonic()
        waited_s = float("inf") if self._triggered_at is None else now - self._triggered_at
        is_over = waited_s * 1000 >= self._options.trigger_delay_ms_max
        if not is_over and count_new(known, latest) < rows_min:
            return True
        self._triggered_at = now
        return False

    def _ranges(self, start: Offsets, end: Offsets) -> list[OffsetRange]:
        """From where it stood to where it goes, partition by partition, loss reported."""
        fails = self._options.fails_on_data_loss
        gone = sorted(start.keys() - end.keys())
        if gone:
            report_data_loss(f"{', '.join(map(str, gone))} are gone", fails)
        known = self._with_new(start, end)
        for partition in sorted(known.keys() - start.keys()):
            if known[partition]:
                what = f"{partition} is new, yet starts from offset {known[partition]}"
                report_data_loss(what, fails)
        ranges = [OffsetRange(p, known[p], end[p]) for p in sorted(end) if p in known]
        for partition, first, last in ranges:
            if last < first:
                report_data_loss(f"{partition} went back from offset {first} to {last}", fails)
        return ranges
