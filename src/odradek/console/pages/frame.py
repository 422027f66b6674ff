"""What every page has: the way to the others, what cannot be seen just now, and its title.

A page draws itself anew when a number that it looks at has changed; to look at a number costs
nothing, and the cluster is asked by nobody but the observer.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from html import escape

from nicegui import ui

from odradek.console.observer import Observer
from odradek.console.pages.look import STYLE
from odradek.runtime.errors import OdradekError

PAGES = [
    ("Overview", "/", "dashboard"),
    ("Timeline", "/timeline", "timeline"),
    ("Topics", "/topics", "topic"),
    ("Groups", "/groups", "groups"),
    ("Pipelines", "/pipelines", "bolt"),
    ("Znodes", "/znodes", "account_tree"),
    ("Ensemble", "/ensemble", "hub"),
]
GLANCE_S = 0.3
UNKNOWN = "?"
LOGOUT = '<form method="post" action="/logout"><button class="logout">Log out</button></form>'


@contextmanager
def framed(observer: Observer, title: str, here: str) -> Iterator[None]:
    """A page with its surroundings."""
    ui.colors(primary="#5457e0")
    ui.add_css(STYLE)
    ui.page_title(f"{title} · Odradek")
    with ui.left_drawer(value=True, fixed=True).props("width=210 breakpoint=700").classes("side"):
        ui.label("Odradek").classes("brand")
        for name, link, icon in PAGES:
            with ui.link(target=link).classes("nav here" if link == here else "nav"):
                ui.icon(icon, size="20px")
                ui.label(name)
        ui.element("div").classes("gap")
        is_changing = observer.options.is_changing
        ui.label("may change things" if is_changing else "read-only").classes(
            "mode changing" if is_changing else "mode"
        )
        ui.label("\n".join(addresses_of(observer))).classes("side-note").style(
            "white-space:pre-line;word-break:break-all"
        )
        if observer.options.has_login:
            ui.html(LOGOUT, sanitize=False)
    trouble = ui.label().classes("trouble")

    def show_trouble() -> None:
        text = " · ".join(filter(None, (observer.watching.trouble, observer.trouble)))
        trouble.set_text(text)
        trouble.set_visibility(bool(text))

    redraw_when(lambda: (observer.watching.trouble, observer.trouble), show_trouble)
    yield


def addresses_of(observer: Observer) -> list[str]:
    """Where the cluster is, a line each."""
    brokers = observer.options.bootstrap.split(",")
    return ["Kafka", *brokers, "", "ZooKeeper", *observer.options.zookeeper.split(",")]


def redraw_when(number: Callable[[], object], draw: Callable[[], None]) -> None:
    """Draw now, and again whenever the number is another."""
    seen = number()
    draw()

    def glance() -> None:
        nonlocal seen
        if (now := number()) != seen:
            seen = now
            draw()

    ui.timer(GLANCE_S, glance)


def heading(text: str, level: int = 1) -> ui.html:
    """A title; what it says may come from outside, and is text."""
    return ui.html(escape(text), sanitize=False, tag=f"h{level}")


@asynccontextmanager
async def told_if_refused() -> AsyncIterator[None]:
    """Say what a cluster refused, or that it did not answer, where the user looks."""
    try:
        yield
    except (OdradekError, OSError) as error:
        ui.notify(str(error), type="negative", multi_line=True)


class Figure:
    """A number with a name, in a box."""

    def __init__(self, name: str) -> None:
        with ui.element("div").classes("figure") as self._box:
            ui.label(name).classes("name")
            self._value = ui.label(UNKNOWN).classes("value")
            self._more = ui.label("").classes("more")

    def show(self, value: object, more: str = "", *, mood: str = "") -> None:
        self._value.set_text(str(value))
        self._more.set_text(more)
        self._box.classes(remove="bad good", add=mood)
