"""Ensemble: who leads, how far each is, whose sessions there are."""

from __future__ import annotations

import asyncio
import re

from nicegui import ui

from odradek.console.drawing import sparkline
from odradek.console.gatherings import Server, leader_of
from odradek.console.observer import Observer
from odradek.console.pages.frame import UNKNOWN, Figure, framed, heading, redraw_when
from odradek.console.pages.tables import BADGE, CUT, show_rows, table
from odradek.console.rows import Row
from odradek.console.words import sessions_at

SERVERS = {
    "server": "server", "mode": "role", "epoch": "epoch", "zxid": "last zxid", "znodes": "znodes",
    "connections": "connections", "latency": "latency min/avg/max", "version": "version",
}  # fmt: skip
SESSIONS = {
    "session": "session", "owner": "whose", "peer": "from", "server": "at", "timeout": "time-out",
    "last": "last request",
}  # fmt: skip
SESSION = re.compile(r"/(?P<peer>\S+?)\[\d+\]\((?P<about>.*)\)$")
SESSION_ID = re.compile(r"sid=(0x[0-9a-f]+)")


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
            sessions = table("session", SESSIONS, {"session": CUT}, page=25)

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
            said = await asyncio.gather(*[sessions_at(it) for it in observer.ensemble])
            rows = [
                row
                for address, lines in zip(observer.ensemble, said, strict=True)
                for line in lines
                if (row := session_row(line, str(address), owners(observer)))
            ]
            show_rows(sessions, rows)
            note.set_text("" if rows else "The servers do not tell (the word cons is not allowed).")

        redraw_when(lambda: observer.looks, draw)
        ui.timer(0, load, once=True)


def followers_text(leader: Server | None) -> tuple[str, str]:
    """How many follow, and why that may not be known."""
    if leader is None or leader.mode == "standalone":
        return "0", "it stands alone" if leader else ""
    told = leader.figure("zk_synced_followers")
    return (told, "") if told else (UNKNOWN, "the word mntr is not allowed")


def owners(observer: Observer) -> dict[str, str]:
    """Whose a session is, as far as registrations tell."""
    brokers = observer.watching.sights.brokers.items()
    found = {f"{it.session:#x}": f"broker {number}" for number, it in brokers}
    if not observer.watching.trouble:
        found[f"{observer.watching.client.session_id:#x}"] = "this console"
    return found


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


def session_row(line: str, server: str, owner: dict[str, str]) -> Row | None:
    """One line of `cons`: a connection, and the session that it carries."""
    match = SESSION.match(line)
    found = SESSION_ID.search(line)
    if match is None or found is None:
        return None
    said = dict(it.split("=", 1) for it in match["about"].split(",") if "=" in it)
    return {
        "session": found[1],
        "owner": owner.get(found[1], ""),
        "peer": match["peer"],
        "server": server,
        "timeout": f"{said['to']} ms" if "to" in said else "",
        "last": said.get("lop", ""),
    }
