"""Tables of any length: rows are data, cells are templates, and the browser draws what is in view.

Whatever comes from outside is put in by Vue as text, never as HTML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

from odradek.console.rows import Row

NUMBERS = {
    "leads", "in_sync", "replicas", "epoch", "partitions", "short", "leaderless", "members", "lag",
    "offset", "first", "end", "count", "committed", "connections", "znodes", "headers",
    "rows", "rows_per_s", "arriving", "batch", "ephemerals", "watches",
}  # fmt: skip
LINK = '<a class="link" :href="props.row.{href}">{{{{ props.value }}}}</a>'
BADGE = '<span class="badge" :class="props.value">{{ props.value }}</span>'
CUT = '<div class="mono cut">{{ props.value }}</div>'
ALERT = "<span :class=\"props.value ? 'bad' : 'soft'\">{{ props.value }}</span>"


def link(href: str = "href") -> str:
    """A cell that leads somewhere, wherever there is somewhere to lead."""
    return f'<template v-if="props.row.{href}">' + LINK.format(href=href) + "</template>"


def table(
    key: str,
    columns: Mapping[str, str],
    cells: Mapping[str, str] | None = None,
    *,
    rows: Sequence[Row] = (),
    page: int = 25,
) -> ui.table:
    """A table; `columns` are titles by field, `cells` templates by field."""
    described: list[dict[str, Any]] = [
        {
            "name": field,
            "label": title,
            "field": field,
            "align": "right" if field in NUMBERS and title else "left",
            "sortable": bool(title),
        }
        for field, title in columns.items()
    ]
    made = ui.table(columns=described, rows=list(rows), row_key=key, pagination=page)
    made.props('flat dense wrap-cells=false :rows-per-page-options="[10,25,50,100,200]"')
    if not page:
        made.props("hide-pagination")
    for field, template in (cells or {}).items():
        made.add_slot(f"body-cell-{field}", f'<q-td :props="props">{template}</q-td>')
    return made


def show_rows(made: ui.table, rows: list[Row]) -> None:
    """Other rows, if they are others: nothing is sent to the browser for nothing."""
    if made.rows != rows:
        made.rows = rows
