"""Commands that use Spark find the session of all tests active."""

from __future__ import annotations

from tests.pipelines.conftest import elsewhere
from tests.spark.conftest import _connections, collect_ignore_glob, spark, topics

__all__ = ["_connections", "collect_ignore_glob", "elsewhere", "spark", "topics"]
