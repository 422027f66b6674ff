"""Pipelines: queries of Spark, how fast they are and how far behind."""

from __future__ import annotations

from html import escape
from urllib.parse import quote

from nicegui import ui

from odradek.console.drawing import sparkline
from odradek.console.observer import Observer
from odradek.console.pages.frame import UNKNOWN, Figure, framed, heading, redraw_when
from odradek.console.pages.tables import ALERT, BADGE, link, show_rows, table
from odradek.console.pipelines import Pipeline
from odradek.console.rows import Row, partition_link, time_text
from odradek.runtime.clock import wall_clock_ms

COLUMNS = {
    "name": "query", "state": "state", "rows": "rows", "rows_per_s": "rows/s",
    "arriving": "arriving/s", "lag": "lag", "batch": "batch", "heard": "told last",
}  # fmt: skip
PARTITIONS = {"partition": "partition", "offset": "goes on from", "end": "end", "lag": "lag"}
NOBODY = (
    "No query has told of itself. In a PySpark program: "
    "odradek.pipelines.report_progress(spark, servers); or odradek pipeline … --report."
)


def pipelines_page(observer: Observer) -> None:
    with framed(observer, "Pipelines", "/pipelines"):
        heading("Pipelines")
        with ui.element("div").classes("panel"):
            note = ui.label().classes("soft")
            pipelines = table("query", COLUMNS, {"name": link(), "state": BADGE}, page=50)

        def draw() -> None:
            now_ms = wall_clock_ms()
            newest = reversed(observer.pipelines.values())
            show_rows(pipelines, [pipeline_row(it, now_ms) for it in newest])
            note.set_text("" if observer.pipelines else NOBODY)

        redraw_when(lambda: observer.looks, draw)


def pipeline_page(observer: Observer, query: str) -> None:
    with framed(observer, "Pipeline", "/pipelines"):
        title = heading("Pipeline")
        ui.label(query).classes("mono soft")
        sink = ui.label().classes("mono soft")
        with ui.element("div").classes("figures"):
            state, rows, pace, lag = map(Figure, ("State", "Rows", "Rows per second", "Lag"))
        with ui.element("div").classes("panel"):
            heading("Lag over time", 2)
            line = ui.html("", sanitize=False).style("width:100%")
        with ui.element("div").classes("panel"):
            heading("Partitions", 2)
            cells = {"partition": link(), "lag": ALERT}
            partitions = table("partition", PARTITIONS, cells, page=50)

        def draw() -> None:
            found = observer.pipelines.get(query)
            if found is None:
                state.show("unknown", "it has not told of itself")
                return
            standing, now_ms = found.standing, wall_clock_ms()
            title.set_content(escape(standing.name))
            sink.set_text(f"into {standing.sink}" if standing.sink else "")
            state.show(found.state(now_ms), standing.trouble or time_text(standing.time_ms))
            rows.show(f"{standing.rows:,}", f"batch {standing.batch}")
            pace.show(f"{standing.rows_per_s:,.0f}", f"{standing.arriving_per_s:,.0f} arriving")
            lag.show(UNKNOWN if found.lag is None else f"{found.lag:,}")
            line.set_content(
                sparkline(observer.pipeline_lags.get(query, ()), width=900, label="lag")
            )
            show_rows(partitions, partition_rows(found))

        redraw_when(lambda: observer.looks, draw)


def pipeline_row(pipeline: Pipeline, now_ms: int) -> Row:
    it = pipeline.standing
    return {
        "query": it.query,
        "name": it.name,
        "state": pipeline.state(now_ms),
        "rows": f"{it.rows:,}",
        "rows_per_s": f"{it.rows_per_s:,.0f}",
        "arriving": f"{it.arriving_per_s:,.0f}",
        "lag": pipeline.lag,
        "batch": it.batch if it.batch >= 0 else None,
        "heard": time_text(it.time_ms),
        "href": f"/pipeline?query={quote(it.query, safe='')}",
    }


def partition_rows(pipeline: Pipeline) -> list[Row]:
    return [
        {
            "partition": str(where),
            "offset": offset,
            "end": pipeline.ends.get(where),
            "lag": pipeline.lag_of(where),
            "href": partition_link(*where),
        }
        for where, offset in sorted(pipeline.standing.positions().items())
    ]
