"""Moving replicas: each partition's brokers, prefilled with what they are."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from odradek.console.observer import Observer
from odradek.console.pages.frame import heading, told_if_refused
from odradek.console.pages.tables import show_rows, table
from odradek.console.rows import partition_rows
from odradek.kafka.client.errors import TopicPartition
from odradek.runtime.errors import OdradekError

EDIT = (
    '<q-input dense outlined v-model="props.row.wanted" '
    "@update:model-value=\"() => $parent.$emit('edit', props.row)\" />"
)


class NoBrokers(OdradekError):
    """What was written names no brokers."""


COLUMNS = {"partition": "partition", "replicas_": "replicas", "wanted": "shall be on"}


def reassignment_dialog(observer: Observer, topic: str) -> ui.dialog:
    """Asks where the replicas of a topic shall be, the preferred leader first."""
    written: dict[int, str] = {}
    with ui.dialog() as dialog, ui.card().style("min-width:520px"):
        heading(f"Move replicas of {topic}", 2)
        ui.label("Brokers of each partition, the preferred leader first.").classes("soft")
        places = table("partition", COLUMNS, {"wanted": EDIT}, page=10)
        places.on("edit", lambda it: written.update({it.args["partition"]: it.args["wanted"]}))
        with ui.element("div").classes("line"):
            ui.button("Move", on_click=lambda: move())
            ui.button("Leave it", on_click=dialog.close).props("flat")

    def fill() -> None:
        written.clear()
        rows: list[dict[str, Any]] = [
            {
                "partition": it["partition"],
                "replicas_": it["replicas"],
                "wanted": it["replicas"],
            }
            for it in partition_rows(observer.watching.sights, topic)
        ]
        show_rows(places, rows)

    async def move() -> None:
        async with told_if_refused():
            targets = {TopicPartition(topic, it): brokers_in(text) for it, text in written.items()}
            if targets:
                await observer.actions.move(targets)
                ui.notify(f"{len(targets)} partitions begin to move")
            dialog.close()

    dialog.on_value_change(lambda it: fill() if it.value else None)
    return dialog


def brokers_in(text: str) -> list[int]:
    """Numbers of brokers, with commas or blanks between them."""
    words = text.replace(",", " ").split()
    if not words or not all(it.isdecimal() for it in words):
        raise NoBrokers(f"{text!r} are no brokers: write 1, 2, 3")
    return [int(it) for it in words]
