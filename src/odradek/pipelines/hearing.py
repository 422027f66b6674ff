"""What Spark tells of streaming queries, passed on; the only module here that needs Spark."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.listener import StreamingQueryListener

if TYPE_CHECKING:
    from odradek.pipelines.reporting import Reporter


class Hearing(StreamingQueryListener):
    """Called by Spark, in a thread of Spark's."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802
        self._reporter.started(str(event.id), event.name)

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802
        said = json.loads(event.progress.json)
        self._reporter.progressed(str(event.progress.id), said)

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        self._reporter.progressed(str(event.id), {})

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
        self._reporter.ended(str(event.id), event.exception)


def listener_for(reporter: Reporter) -> Hearing:
    return Hearing(reporter)
