"""The live table of `odradek up`: one row a server."""

from __future__ import annotations

from rich.table import Table

from odradek.local.status import ServerStatus

COLORS = {"leader": "green", "controller": "green", "down": "red", "starting": "yellow"}
MEBIBYTE = 1024 * 1024


def status_table(rows: list[ServerStatus]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("server", "role", "epoch", "leads", "ISR", "sessions", "memory", "endpoint"):
        is_number = name in ("epoch", "leads", "sessions", "memory")
        table.add_column(name, justify="right" if is_number else "left")
    for row in rows:
        color = COLORS.get(row.role, "")
        table.add_row(
            row.name + (f" ({row.restarts} restarts)" if row.restarts else ""),
            f"[{color}]{row.role}[/]" if color else row.role,
            number(row.epoch),
            "" if row.leads is None else f"{row.leads}/{row.partitions}",
            in_sync(row),
            number(row.sessions),
            "" if row.memory_bytes is None else f"{row.memory_bytes // MEBIBYTE} MiB",
            row.endpoint,
        )
    return table


def number(value: int | None) -> str:
    return "" if value is None else str(value)


def in_sync(row: ServerStatus) -> str:
    """Whether all that it leads is whole."""
    if row.under_replicated is None:
        return ""
    return f"[red]{row.under_replicated} short[/]" if row.under_replicated else "whole"
