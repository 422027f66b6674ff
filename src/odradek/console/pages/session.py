"""One session of ZooKeeper: whose it is, what it watches, what will be gone with it."""

from __future__ import annotations

from nicegui import ui

from odradek.console.observer import Observer
from odradek.console.pages.frame import framed, heading
from odradek.console.pages.tables import link, show_rows, table
from odradek.console.rows import Row, znode_link
from odradek.console.sessions import Session, Sessions

PATHS = {"path": "znode"}
NOT_TOLD = "The servers do not tell (the words cons and wchc are not allowed)."


def session_page(observer: Observer, session_id: str) -> None:
    with framed(observer, "Session", "/ensemble"):
        with ui.element("div").classes("line"):
            heading(f"Session {session_id}")
            ui.button("Refresh", icon="refresh", on_click=lambda: load()).props("flat dense")
        facts = ui.element("div").classes("panel facts")
        with ui.element("div").classes("panel"):
            heading("Ephemeral znodes: gone when it ends", 2)
            owned = table("path", PATHS, {"path": link()}, page=25)
        with ui.element("div").classes("panel"):
            heading("Watches on data", 2)
            note = ui.label().classes("soft")
            watched = table("path", PATHS, {"path": link()}, page=50)

        async def load() -> None:
            sessions = await observer.ask_sessions()
            found = sessions.by_id.get(session_id)
            facts.clear()
            with facts:
                for name, text in facts_of(found, owners(observer)).items():
                    ui.label(name).classes("k")
                    ui.label(text).classes("mono")
            note.set_text("" if sessions.tells_watches else NOT_TOLD)
            show_rows(owned, path_rows(found.ephemerals if found else ()))
            show_rows(watched, path_rows(found.watches if found else ()))

        ui.timer(0, load, once=True)


def facts_of(session: Session | None, owner: dict[str, str]) -> dict[str, str]:
    if session is None:
        return {"state": "it has ended, or is between two servers"}
    return {
        "whose": owner.get(session.id, "unknown"),
        "from": session.peer,
        "at": session.server,
        "time-out": session.timeout,
        "last request": session.last,
    }


def path_rows(paths: tuple[str, ...]) -> list[Row]:
    return [{"path": it, "href": znode_link(it)} for it in paths]


def owners(observer: Observer) -> dict[str, str]:
    """Whose a session is, as far as registrations tell."""
    brokers = observer.watching.sights.brokers.items()
    found = {f"{it.session:#x}": f"broker {number}" for number, it in brokers}
    if not observer.watching.trouble:
        found[f"{observer.watching.client.session_id:#x}"] = "this console"
    return found


def watcher_rows(sessions: Sessions, path: str, owner: dict[str, str]) -> list[Row]:
    """Who watches a znode."""
    return [
        {
            "session": it.id,
            "owner": owner.get(it.id, ""),
            "server": it.server,
            "href": session_link(it.id),
        }
        for it in sessions.watching(path)
    ]


def session_link(session_id: str) -> str:
    return f"/session?id={session_id}"
