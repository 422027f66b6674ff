"""A group: its lag over time, its members, and where it goes on from."""

from __future__ import annotations

from nicegui import ui
from nicegui.events import GenericEventArguments

from odradek.console.drawing import sparkline
from odradek.console.observer import Observer
from odradek.console.offset_edits import Edit, Place, edits_of
from odradek.console.pages.frame import (
    UNKNOWN,
    Figure,
    framed,
    heading,
    redraw_when,
    told_if_refused,
)
from odradek.console.pages.tables import CUT, link, show_rows, table
from odradek.console.rows import Row, partition_link
from odradek.console.surveying import places_of
from odradek.kafka.client.errors import TopicPartition

MEMBERS = {"client": "client", "host": "host", "id": "member", "given": "partitions"}
OFFSETS = {
    "name": "partition", "committed": "committed", "end": "end offset", "lag": "lag",
    "member": "member",
}  # fmt: skip
EDIT = (
    '<q-input dense outlined v-model="props.row.wanted" style="max-width:140px" '
    "@update:model-value=\"() => $parent.$emit('edit', props.row)\" />"
)
PREVIEW = {"name": "partition", "before": "from", "after": "to", "lag": "lag then"}


class GroupPage:
    """One browser's view of one group."""

    def __init__(self, observer: Observer, name: str) -> None:
        self._observer = observer
        self._name = name
        self._places: list[Place] = []
        self._written: dict[TopicPartition, str] = {}
        self._edits: list[Edit] = []

    def draw(self) -> None:
        with framed(self._observer, self._name, "/groups"):
            heading(self._name)
            with ui.element("div").classes("figures"):
                self._state, self._count = Figure("State"), Figure("Members")
                self._lag = Figure("Lag")
            with ui.element("div").classes("panel"):
                heading("Lag over time", 2)
                self._line = ui.html("", sanitize=False).style("width:100%")
            with ui.element("div").classes("panel"):
                heading("Members", 2)
                self._members = table("id", MEMBERS, {"id": CUT}, page=10)
            self._draw_offsets()
            redraw_when(lambda: self._observer.looks, self._show)
        ui.timer(0, self.load, once=True)

    def _draw_offsets(self) -> None:
        is_allowed = self._observer.actions.is_allowed
        with ui.element("div").classes("panel"):
            with ui.element("div").classes("line"):
                heading("Offsets", 2)
                ui.button("Refresh", icon="refresh", on_click=self.load).props("flat dense")
                if is_allowed:
                    ui.button("Preview changes …", on_click=self.preview).props("flat dense")
            columns = OFFSETS | ({"wanted": "go on from"} if is_allowed else {})
            cells = {"name": link()} | ({"wanted": EDIT} if is_allowed else {})
            self._offsets = table("name", columns, cells, page=50)
            self._offsets.on("edit", self._edited)
        if is_allowed:
            self._draw_preview()

    def _draw_preview(self) -> None:
        with ui.dialog() as self._dialog, ui.card().style("min-width:520px"):
            heading(f"Where {self._name} shall go on from", 2)
            self._problems = ui.label().classes("bad").style("white-space:pre-line")
            self._preview = table("name", PREVIEW, page=10)
            with ui.element("div").classes("line"):
                self._commit = ui.button("Commit", on_click=self.commit)
                ui.button("Leave it", on_click=self._dialog.close).props("flat")

    def _show(self) -> None:
        group = self._observer.groups.get(self._name)
        lags = list(self._observer.lags.get(self._name, ()))
        self._state.show(group.state if group else "unknown")
        self._count.show(len(group.members) if group else 0, group.assignor if group else "")
        self._lag.show(f"{lags[-1]:,}" if lags else UNKNOWN)
        self._line.set_content(sparkline(lags, width=900, label="lag"))
        rows = [
            {"client": it.client, "host": it.host, "id": it.id, "given": ", ".join(it.partitions)}
            for it in (group.members if group else ())
        ]
        show_rows(self._members, rows)

    async def load(self) -> None:
        """Ask where the group is; fields are filled with that."""
        async with told_if_refused():
            self._places = await self._observer.kafka.ask(places_of, self._name)
            self._written.clear()
            show_rows(self._offsets, [offset_row(it) for it in self._places])

    def _edited(self, event: GenericEventArguments) -> None:
        row = event.args
        where = TopicPartition(str(row["topic"]), int(row["partition"]))
        self._written[where] = str(row["wanted"] or "")

    def preview(self) -> None:
        """Show what would change, and what cannot be."""
        self._edits, problems = edits_of(self._places, self._written)
        self._problems.set_text("\n".join(problems))
        rows: list[Row] = [
            {"name": str(it.partition), "before": it.before, "after": it.after, "lag": it.lag_after}
            for it in self._edits
        ]
        show_rows(self._preview, rows)
        self._commit.set_enabled(bool(self._edits) and not problems)
        self._dialog.open()

    async def commit(self) -> None:
        async with told_if_refused():
            offsets = {it.partition: it.after for it in self._edits}
            await self._observer.actions.commit(self._name, offsets)
            ui.notify(f"{self._name} goes on from there", type="positive")
            self._dialog.close()
            await self.load()


def offset_row(place: Place) -> Row:
    return {
        "name": str(place.partition),
        "topic": place.partition.topic,
        "partition": place.partition.partition,
        "committed": place.committed,
        "end": place.end,
        "lag": place.lag,
        "member": place.member,
        "wanted": "" if place.committed is None else str(place.committed),
        "href": partition_link(*place.partition),
    }


def group_page(observer: Observer, name: str) -> None:
    GroupPage(observer, name).draw()
