"""What newer versions of Spark brought, and stand-ins where they are not to be had.

Spark 4.0 has data sources in Python, 4.1 pushes filters down to them and hands Arrow batches to
streaming sinks, 4.2 asks streams how much to read at once.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.datasource import DataSourceStreamArrowWriter
    from pyspark.sql.streaming.datasource import (
        ReadAllAvailable,
        ReadLimit,
        ReadMaxRows,
        ReadMinRows,
        SupportsTriggerAvailableNow,
    )
else:
    try:
        from pyspark.sql.datasource import DataSourceStreamArrowWriter
    except ImportError:

        class DataSourceStreamArrowWriter:
            """Before 4.1 streaming sinks are given rows."""

    try:
        from pyspark.sql.streaming.datasource import (
            ReadAllAvailable,
            ReadLimit,
            ReadMaxRows,
            ReadMinRows,
            SupportsTriggerAvailableNow,
        )
    except ImportError:

        class ReadLimit:
            """Before 4.2 nobody asks."""

        class ReadAllAvailable(ReadLimit):
            """Everything."""

        @dataclass
        class ReadMaxRows(ReadLimit):
            """At most so many."""

            max_rows: int

        @dataclass
        class ReadMinRows(ReadLimit):
            """At least so many."""

            min_rows: int

        class SupportsTriggerAvailableNow:
            """Before 4.2 Spark looks after this itself."""


WRITES_STREAMS_IN_ARROW = DataSourceStreamArrowWriter.__module__.startswith("pyspark.")
PUSHING_WORKER = "pyspark.sql.worker.data_source_pushdown_filters"


def pushes_filters() -> bool:
    """Whether Spark wants to push filters down to a reader that is made in this process.

    It has a worker for that alone, and refuses readers that could where its setting
    `spark.sql.python.filterPushdown.enabled` is off: so one looks who is calling.
    """
    return PUSHING_WORKER in sys.modules


__all__ = [
    "WRITES_STREAMS_IN_ARROW",
    "DataSourceStreamArrowWriter",
    "ReadAllAvailable",
    "ReadLimit",
    "ReadMaxRows",
    "ReadMinRows",
    "SupportsTriggerAvailableNow",
    "pushes_filters",
]
