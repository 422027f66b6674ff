"""Ensemble: who leads, how far each is, whose sessions there are."""

from __future__ import annotations

from nicegui import ui

from odradek.console.drawing import sparkline
from odradek.console.gatherings import Server, leader_of
from odradek.console.observer import Observer
from odradek.console.pages.frame import UNKNOWN, Figure, framed, heading, redraw_when
from odradek.console.pages.session import NOT_TOLD, owners, session_link
from odradek.console.pages.tables import BADGE, CUT, link, show_rows, table
from odradek.console.rows import Row
from odradek.console.sessions import Session

SERVERS = {
    "server": "server", "mode": "role", "epoch": "epoch", "zxid": "last zxid", "znodes": "znodes",
    "connections": "connections", "latency": "latency min/avg/max", "version": "version",
}  # fmt: skip
SESSIONS = {
    "session": "session", "owner": "whose", "peer": "from", "server": "at", "timeout": "time-out",
    "last": "last request", "ephemerals": "ephemerals", "watches": "watches",
}  # fmt: skip


def ensemble_page(observer: Observer) -> None:
    with framed(observer, "Ensemble", "/ensemble"):
        heading("Ensemble")
        with ui.element("div").classes("figures"):
            leader, epoch = Figure("Leader"), Figure("Epoch")
            zxid, synced = Figure("Last zxid"), Figure("Synced followers")
        with ui.element("div").classes("panel"):
            heading("Transactions per second", 2)
            line = ui.html("", sanitize=False).style("width:100%")
        with ui.element("div").classes("panel"):
            heading("Servers", 2)
            servers = table("server", SERVERS, {"mode": BADGE, "zxid": CUT}, page=0)
        with ui.element("div").classes("panel"):
            with ui.element("div").classes("line"):
                heading("Sessions", 2)
                ui.button("Refresh", icon="refresh", on_click=lambda: load()).props("flat dense")
            note = ui.label().classes("soft")
            sessions = table("session", SESSIONS, {"session": link()}, page=25)

        def draw() -> None:
            first = leader_of(observer.servers)
            leader.show(first.endpoint if first else "nobody", mood="" if first else "bad")
            epoch.show(first.epoch if first else UNKNOWN)
            last = f"{observer.writes_per_s[-1]:.1f} a second" if observer.writes_per_s else ""
            zxid.show(f"{first.zxid:#x}" if first else UNKNOWN, last)
            line.set_content(sparkline(observer.writes_per_s, width=900, label="transactions"))
            synced.show(*followers_text(first))
            show_rows(servers, [server_row(it) for it in observer.servers])

        async def load() -> None:
            found = (await observer.ask_sessions()).by_id.values()
            show_rows(sessions, [session_row(it, owners(observer)) for it in found])
            note.set_text("" if found else NOT_TOLD)

        redraw_when(lambda: observer.looks, draw)
        ui.timer(0, load, once=True)


def followers_text(leader: Server | None) -> tuple[str, str]:
    """How many follow, and why that may not be known."""
    if leader is None or leader.mode == "standalone":
        return "0", "it stands alone" if leader else ""
    told = leader.figure("zk_synced_followers")
    return (told, "") if told else (UNKNOWN, "the word mntr is not allowed")


def server_row(server: Server) -> Row:
    return {
        "server": server.endpoint,
        "mode": server.mode or "gone",
        "epoch": server.epoch if server.mode else None,
        "zxid": f"{server.zxid:#x}" if server.mode else "",
        "znodes": server.znodes if server.mode else None,
        "connections": server.connections if server.mode else None,
        "latency": server.latency,
        "version": server.version,
    }


def session_row(session: Session, owner: dict[str, str]) -> Row:
    return {
        "session": session.id,
        "owner": owner.get(session.id, ""),
        "peer": session.peer,
        "server": session.server,
        "timeout": session.timeout,
        "last": session.last,
        "ephemerals": len(session.ephemerals),
        "watches": len(session.watches),
        "href": session_link(session.id),
    }
