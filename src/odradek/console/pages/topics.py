"""Topics: all of them in one table, found by typing a part of the name."""

from __future__ import annotations

from nicegui import ui

from odradek.console.observer import Observer
from odradek.console.pages.frame import framed, heading, redraw_when
from odradek.console.pages.tables import ALERT, link, show_rows, table
from odradek.console.rows import topic_rows

COLUMNS = {
    "topic": "topic", "partitions": "partitions", "replicas": "replicas",
    "short": "under-replicated", "leaderless": "without leader", "internal": "",
}  # fmt: skip


def topics_page(observer: Observer) -> None:
    with framed(observer, "Topics", "/topics"):
        heading("Topics")
        with ui.element("div").classes("line"):
            text = ui.input(placeholder="filter by name")
            text.props("dense outlined clearable debounce=150").style("min-width:300px")
            shows_internal = ui.switch("internal ones, too", value=True)
            count = ui.label().classes("soft")
        with ui.element("div").classes("panel"):
            cells = {"topic": link(), "short": ALERT, "leaderless": ALERT}
            topics = table("topic", COLUMNS, cells, page=50)

        def draw() -> None:
            wanted = (text.value or "").casefold()
            rows = [
                row
                for row in topic_rows(observer.watching.sights)
                if wanted in row["topic"].casefold()
                and (shows_internal.value or not row["internal"])
            ]
            show_rows(topics, rows)
            count.set_text(f"{len(rows):,} of {len(observer.watching.sights.topics):,} topics")

        text.on_value_change(draw)
        shows_internal.on_value_change(draw)
        redraw_when(lambda: observer.watching.sights.version, draw)
