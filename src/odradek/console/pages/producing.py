"""Writing one record by hand."""

from __future__ import annotations

from nicegui import ui

from odradek.console.observer import Observer
from odradek.console.pages.frame import heading, told_if_refused
from odradek.kafka.client.errors import TopicPartition


def produce_dialog(observer: Observer, where: TopicPartition) -> ui.dialog:
    """Asks for a key and a value, and writes them to this partition."""
    with ui.dialog() as dialog, ui.card().style("min-width:520px"):
        heading(f"Produce to {where}", 2)
        key = ui.input("key (left empty: none)").props("dense outlined").style("width:100%")
        value = ui.textarea("value").props("outlined").style("width:100%")
        with ui.element("div").classes("line"):
            ui.button("Write", on_click=lambda: write())
            ui.button("Leave it", on_click=dialog.close).props("flat")

    async def write() -> None:
        async with told_if_refused():
            await observer.actions.produce(
                where.topic,
                key.value.encode() if key.value else None,
                (value.value or "").encode(),
                where.partition,
            )
            ui.notify("written", type="positive")
            dialog.close()

    return dialog
