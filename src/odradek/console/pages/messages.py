"""Messages of a partition: seek by offset or time, follow, filter, decode, produce, export."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime

from nicegui import ui
from nicegui.events import GenericEventArguments

from odradek.console.decoding import Form, shown
from odradek.console.observer import Observer
from odradek.console.pages.frame import framed, heading, told_if_refused
from odradek.console.pages.producing import produce_dialog
from odradek.console.pages.tables import CUT, show_rows, table
from odradek.console.reading import Slice, is_match, read_from, read_since, told
from odradek.console.rows import message_rows, time_text
from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.wire.records import Record
from odradek.runtime.errors import OdradekError

COLUMNS = {
    "offset": "offset", "time": "time (UTC)", "key": "key", "value": "value", "headers": "headers",
}  # fmt: skip
AT_ONCE = 100
FOLLOWED_MAX = 1000
FOLLOW_WITHIN_S = 15
EXPORTED_MAX = 10_000
PLACES = {
    "latest": "the last ones",
    "earliest": "the first ones",
    "offset": "from offset …",
    "time": "from time …",
}


class NoTime(OdradekError):
    """What was written is no time."""


class MessagesPage:
    """One browser's view of one partition."""

    def __init__(self, observer: Observer, where: TopicPartition) -> None:
        self._observer = observer
        self._where = where
        self._records: list[Record] = []
        self._next = 0

    def draw(self) -> None:
        with framed(self._observer, str(self._where), "/topics"):
            with ui.element("div").classes("line"):
                heading(str(self._where))
                ui.link("all partitions", f"/topics/{self._where.topic}").classes("link")
                self._extent = ui.label().classes("soft")
            self._draw_controls()
            with ui.element("div").classes("panel"):
                cells = {"key": CUT, "value": CUT}
                self._table = table("offset", COLUMNS, cells, page=50)
                self._table.on("rowClick", self._open, [None, ["offset"], None])
            self._draw_dialog()
        ui.context.client.on_delete(self._stop_following)
        ui.timer(0, self.seek, once=True)

    def _draw_controls(self) -> None:
        with ui.element("div").classes("line"):
            self._place = ui.select(PLACES, value="latest", on_change=self._show_position)
            self._place.props("dense outlined").style("min-width:150px")
            self._position = ui.input(placeholder="offset").props("dense outlined")
            self._position.on("keydown.enter", self.seek)
            ui.button("Go", on_click=self.seek).props("unelevated")
            ui.button("Next", icon="navigate_next", on_click=self.go_on).props("flat dense")
            self._follow = ui.switch("follow", on_change=self._switch_following)
            self._filter = ui.input(placeholder="filter: key, value, header")
            self._filter.props("dense outlined clearable").style("min-width:220px")
            self._filter.on("keydown.enter", self.seek)
            self._form = ui.select([str(it) for it in Form], value="auto", on_change=self._show)
            self._form.props("dense outlined")
            ui.button("Export", icon="download", on_click=self.export).props("flat dense")
            if self._observer.actions.is_allowed:
                dialog = produce_dialog(self._observer, self._where)
                ui.button("Produce …", icon="edit", on_click=dialog.open).props("flat dense")
        self._show_position()

    def _draw_dialog(self) -> None:
        with ui.dialog() as self._dialog, ui.card().style("min-width:640px;max-width:90vw"):
            self._title = ui.label().classes("soft")
            self._detail = ui.element("pre").classes("data mono")
            with self._detail:
                self._text = ui.label().style("white-space:pre-wrap")

    def _show_position(self) -> None:
        place = self._place.value
        self._position.set_visibility(place in ("offset", "time"))
        hint = "2026-11-15T12:00 or ms" if place == "time" else "offset, or -N from the end"
        self._position.props(f'placeholder="{hint}"')

    async def seek(self) -> None:
        """Show what is at the place that was chosen."""
        async with told_if_refused():
            self._take(await self._read(), is_start=True)

    async def _read(self) -> Slice:
        ask, wanted = self._observer.kafka.ask, self._filter.value or ""
        place, text = self._place.value, (self._position.value or "").strip()
        if place == "time" and text:
            return await ask(read_since, self._where, time_of(text), AT_ONCE, wanted)
        offset = {"latest": -AT_ONCE, "earliest": 0}.get(place)
        if offset is None:
            offset = int(text) if text.lstrip("-").isdecimal() else 0
        return await ask(read_from, self._where, offset, AT_ONCE, wanted)

    async def go_on(self) -> None:
        """Show what comes after what is shown."""
        async with told_if_refused():
            wanted = self._filter.value or ""
            ask = self._observer.kafka.ask
            self._take(await ask(read_from, self._where, self._next, AT_ONCE, wanted))

    def _take(self, found: Slice, *, is_start: bool = False) -> None:
        if found.records or is_start:
            self._records = found.records
        self._next = found.next_offset
        extent = found.extent
        self._extent.set_text(f"offsets {extent.first:,} to {extent.end:,}")
        self._show()

    def _show(self) -> None:
        show_rows(self._table, message_rows(self._records, Form(self._form.value)))

    async def _switch_following(self) -> None:
        if not self._follow.value:
            self._stop_following()
            return
        self._table.pagination = {"sortBy": "offset", "descending": True, "rowsPerPage": 50}
        async with told_if_refused(), asyncio.timeout(FOLLOW_WITHIN_S):
            await self._observer.follows.begin(self._where, self._hear)
            # What came between the last look and now; if that is too much, only the end of it.
            missed = await self._observer.kafka.ask(read_from, self._where, -AT_ONCE, AT_ONCE)
            if missed.records and missed.records[0].offset > self._next:
                self._records = []
            if missed.records:
                self._hear(missed.records)

    def _stop_following(self) -> None:
        self._observer.follows.end(self._where, self._hear)

    def _hear(self, records: list[Record]) -> None:
        folded = (self._filter.value or "").casefold()
        known = self._records[-1].offset if self._records else -1
        fresh = [it for it in records if it.offset > known]
        self._records += [it for it in fresh if not folded or is_match(it, folded)]
        del self._records[:-FOLLOWED_MAX]
        self._next = max(self._next, records[-1].offset + 1)
        self._show()

    def _open(self, event: GenericEventArguments) -> None:
        offset = event.args[1]["offset"]
        record = next((it for it in self._records if it.offset == offset), None)
        if record is not None:
            form = Form(self._form.value)
            self._title.set_text(f"{self._where} · offset {offset} · {time_text(record.timestamp)}")
            self._text.set_text(detail(record, form))
            self._dialog.open()

    async def export(self) -> None:
        """Give the browser a file of what is there from the first message shown on."""
        async with told_if_refused():
            start = self._records[0].offset if self._records else self._next
            found = await self._observer.kafka.ask(
                read_from, self._where, start, EXPORTED_MAX, self._filter.value or ""
            )
            form = Form(self._form.value)
            lines = [json.dumps(told(it, form), ensure_ascii=False) for it in found.records]
            ui.download.content("\n".join(lines) + "\n", f"{self._where}-{start}.jsonl")


def detail(record: Record, form: Form) -> str:
    """All of a record, as one reads it."""
    parts = [f"key      {shown(record.key, form)}"]
    parts += [f"header   {name} = {shown(value, form)}" for name, value in record.headers]
    return "\n".join([*parts, "", shown(record.value, form, is_pretty=True)])


def time_of(text: str) -> int:
    """Milliseconds since 1970; a time without a zone is UTC, as all times are here."""
    if text.isdecimal():
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise NoTime(f"{text!r} is no time: write 2026-11-15T12:00") from error
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def messages_page(observer: Observer, topic: str, partition: int) -> None:
    MessagesPage(observer, TopicPartition(topic, partition)).draw()
