"""Groups: their state, their members, how far they are behind."""

from __future__ import annotations

from nicegui import ui

from odradek.console.observer import Observer
from odradek.console.pages.frame import framed, heading, redraw_when
from odradek.console.pages.tables import BADGE, link, show_rows, table
from odradek.console.rows import group_rows

COLUMNS = {
    "group": "group", "state": "state", "members": "members", "lag": "lag",
    "protocol": "protocol", "coordinator": "coordinator",
}  # fmt: skip


def groups_page(observer: Observer) -> None:
    with framed(observer, "Groups", "/groups"):
        heading("Groups")
        text = ui.input(placeholder="filter by name")
        text.props("dense outlined clearable debounce=150").style("max-width:300px")
        with ui.element("div").classes("panel"):
            groups = table("group", COLUMNS, {"group": link(), "state": BADGE}, page=50)

        def draw() -> None:
            wanted = (text.value or "").casefold()
            found = [it for it in observer.groups.values() if wanted in it.name.casefold()]
            lags = {name: it[-1] if it else None for name, it in observer.lags.items()}
            show_rows(groups, group_rows(found, lags))

        text.on_value_change(draw)
        redraw_when(lambda: observer.looks, draw)
