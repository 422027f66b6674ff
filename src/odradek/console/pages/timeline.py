"""Timeline: elections, epochs, leaders, ISRs, sessions, rebalances, one after the other."""

from __future__ import annotations

from nicegui import ui

from odradek.console.events import Kind
from odradek.console.observer import Observer
from odradek.console.pages.frame import framed, heading, redraw_when
from odradek.console.pages.tables import BADGE, link, show_rows, table
from odradek.console.rows import event_rows

SHOWN = 500
COLUMNS = {
    "time": "time (UTC)", "kind": "kind", "text": "what happened", "about": "about",
    "znode": "znode",
}  # fmt: skip


def events_table(page: int) -> ui.table:
    cells = {
        "time": '<span class="mono">{{ props.value }}</span>',
        "kind": BADGE,
        "about": link("href"),
        "znode": '<div class="mono cut narrow" :title="props.row.path">'
        + link("znode_href")
        + "</div>",
    }
    return table("number", COLUMNS, cells, page=page)


def timeline_page(observer: Observer) -> None:
    with framed(observer, "Timeline", "/timeline"):
        heading("Timeline")
        with ui.element("div").classes("line"):
            kinds = ui.select(
                [str(it) for it in Kind], label="kinds", multiple=True, clearable=True, value=[]
            )
            kinds.props("dense outlined use-chips").style("min-width:260px")
            text = ui.input(placeholder="filter: a broker, a topic, a path …")
            text.props("dense outlined clearable debounce=200").style("min-width:300px")
            hold = ui.switch("hold still")
            count = ui.label().classes("soft")
        with ui.element("div").classes("panel"):
            events = events_table(page=50)

        def draw() -> None:
            wanted = {Kind(it) for it in kinds.value or []} or None
            found = observer.timeline.newest(SHOWN, kinds=wanted, text=text.value or "")
            show_rows(events, event_rows(found))
            count.set_text(f"{len(found)} of {len(observer.timeline)} events")

        kinds.on_value_change(draw)
        text.on_value_change(draw)
        hold.on_value_change(draw)
        redraw_when(lambda: None if hold.value else observer.timeline.last_number, draw)
