"""The pages: each a function that is given what is known, and draws it."""

from __future__ import annotations

from nicegui import ui

from odradek.console.observer import Observer
from odradek.console.pages.ensemble import ensemble_page
from odradek.console.pages.group import group_page
from odradek.console.pages.groups import groups_page
from odradek.console.pages.messages import messages_page
from odradek.console.pages.overview import overview_page
from odradek.console.pages.pipelines import pipeline_page, pipelines_page
from odradek.console.pages.session import session_page
from odradek.console.pages.timeline import timeline_page
from odradek.console.pages.topic import topic_page
from odradek.console.pages.topics import topics_page
from odradek.console.pages.znodes import znodes_page


def register(observer: Observer) -> None:
    """Let NiceGUI serve the pages of this cluster."""

    @ui.page("/")
    def overview() -> None:
        overview_page(observer)

    @ui.page("/timeline")
    def timeline() -> None:
        timeline_page(observer)

    @ui.page("/topics")
    def topics() -> None:
        topics_page(observer)

    @ui.page("/topics/{name}")
    def topic(name: str) -> None:
        topic_page(observer, name)

    @ui.page("/topics/{name}/{partition}")
    def messages(name: str, partition: int) -> None:
        messages_page(observer, name, partition)

    @ui.page("/groups")
    def groups() -> None:
        groups_page(observer)

    @ui.page("/group")
    def group(name: str = "") -> None:
        group_page(observer, name)

    @ui.page("/pipelines")
    def pipelines() -> None:
        pipelines_page(observer)

    @ui.page("/pipeline")
    def pipeline(query: str = "") -> None:
        pipeline_page(observer, query)

    @ui.page("/znodes")
    def znodes(path: str = "/") -> None:
        znodes_page(observer, path)

    @ui.page("/ensemble")
    def ensemble() -> None:
        ensemble_page(observer)

    @ui.page("/session")
    def session(id: str = "") -> None:  # noqa: A002
        session_page(observer, id)
