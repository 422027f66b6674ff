"""Overview: who is there, who controls, what is out of sync, how much goes through."""

from __future__ import annotations

from nicegui import ui

from odradek.console.drawing import amount, sparkline
from odradek.console.observer import Observer
from odradek.console.pages.frame import Figure, framed, heading, redraw_when
from odradek.console.pages.tables import BADGE, CUT, link, show_rows, table
from odradek.console.pages.timeline import events_table
from odradek.console.rows import broker_rows, event_rows
from odradek.kafka.storage.names import TopicPartition

LATEST = 8
BROKERS = {
    "broker": "broker", "role": "role", "endpoint": "endpoint", "rack": "rack", "leads": "leads",
    "in_sync": "in sync", "replicas": "replicas", "session": "session", "epoch": "epoch",
}  # fmt: skip
FLOW = {
    "url": "broker", "messages": "messages/s", "bytes_in": "bytes in/s",
    "bytes_out": "bytes out/s", "stall": "longest stall of its loop",
}  # fmt: skip


def overview_page(observer: Observer) -> None:
    with framed(observer, "Overview", "/"):
        heading("Overview")
        draw_figures(observer)
        with ui.element("div").classes("panel"):
            heading("Brokers", 2)
            cells = {"broker": link(), "role": BADGE, "session": CUT}
            brokers = table("broker", BROKERS, cells, page=10)
            sights = observer.watching.sights
            redraw_when(lambda: sights.version, lambda: show_rows(brokers, broker_rows(sights)))
        if observer.throughput:
            draw_flow(observer)
        with ui.element("div").classes("panel"):
            heading("Lately", 2)
            events = events_table(page=0)
            redraw_when(
                lambda: observer.timeline.last_number,
                lambda: show_rows(events, event_rows(observer.timeline.newest(LATEST))),
            )
            ui.link("the whole timeline", "/timeline").classes("link")


def draw_figures(observer: Observer) -> None:
    names = "Brokers", "Controller", "Topics", "Under-replicated", "Without leader", "Groups"
    with ui.element("div").classes("figures"):
        figures = {name: Figure(name) for name in names}

    def draw() -> None:
        sights = observer.watching.sights
        figures["Brokers"].show(len(sights.brokers))
        who = "nobody" if sights.controller is None else f"broker {sights.controller}"
        mood = "bad" if sights.controller is None else ""
        figures["Controller"].show(who, f"epoch {sights.controller_epoch}", mood=mood)
        figures["Topics"].show(len(sights.topics), f"{len(sights.states):,} partitions")
        short, leaderless = sights.short(), sights.leaderless()
        figures["Under-replicated"].show(
            len(short), first_few(short), mood="bad" if short else "good"
        )
        figures["Without leader"].show(
            len(leaderless), first_few(leaderless), mood="bad" if leaderless else "good"
        )
        lag = sum(it[-1] for it in observer.lags.values() if it)
        figures["Groups"].show(len(observer.groups), f"{lag:,} messages behind")

    redraw_when(lambda: (observer.watching.sights.version, observer.looks), draw)


def first_few(partitions: list[TopicPartition]) -> str:
    shown = ", ".join(map(str, partitions[:2]))
    return f"{shown} …" if len(partitions) > 2 else shown


def draw_flow(observer: Observer) -> None:
    with ui.element("div").classes("panel"):
        heading("Throughput", 2)
        line = ui.html("", sanitize=False).style("width:100%")
        flow = table("url", FLOW, page=0)

    def draw() -> None:
        known = observer.throughput
        histories = [[it.messages_in for it in one.history] for one in known.values()]
        length = max((len(it) for it in histories), default=0)
        padded = [[0.0] * (length - len(it)) + it for it in histories]
        sums = [sum(it) for it in zip(*padded, strict=True)]
        line.set_content(sparkline(sums, width=900, label="messages per second"))
        show_rows(
            flow,
            [
                {
                    "url": url,
                    "messages": amount(it.rates.messages_in),
                    "bytes_in": amount(it.rates.bytes_in),
                    "bytes_out": amount(it.rates.bytes_out),
                    "stall": stall_text(it.last.stall_s if it.last else None),
                }
                for url, it in known.items()
            ],
        )

    redraw_when(lambda: observer.looks, draw)


def stall_text(stall_s: float | None) -> str:
    return "not told" if stall_s is None else f"{stall_s * 1000:.0f} ms"
