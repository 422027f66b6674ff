"""A topic: its partitions, its settings, and (where allowed) where its replicas are."""

from __future__ import annotations

from nicegui import ui

from odradek.console.masking import masked_setting
from odradek.console.observer import Observer
from odradek.console.pages.frame import framed, heading, redraw_when, told_if_refused
from odradek.console.pages.moving import reassignment_dialog
from odradek.console.pages.tables import link, show_rows, table
from odradek.console.reading import Extent, extents
from odradek.console.rows import Row, partition_rows
from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.config_admin import ConfigSource, Resource, describe_configs
from odradek.kafka.client.errors import TopicPartition

COLUMNS = {
    "partition": "partition", "leader": "leader", "epoch": "epoch", "isr": "in sync",
    "replicas_": "replicas", "first": "first offset", "end": "end offset", "count": "offsets",
    "moving": "", "znode": "",
}  # fmt: skip
SETTINGS = {"name": "setting", "value": "value", "source": "from"}
CELLS = {
    "partition": link(),
    "isr": "<span :class=\"props.row.is_short ? 'bad' : ''\">{{ props.value }}</span>",
    "znode": '<a class="link" :href="props.row.znode">znode</a>',
}


def topic_page(observer: Observer, name: str) -> None:
    sights = observer.watching.sights
    known: dict[int, Extent] = {}
    with framed(observer, name, "/topics"):
        heading(name)
        with ui.element("div").classes("line"):
            ui.button("Refresh offsets", icon="refresh", on_click=lambda: load()).props(
                "flat dense"
            )
            if observer.actions.is_allowed:
                draw_actions(observer, name)
        with ui.element("div").classes("panel"):
            heading("Partitions", 2)
            partitions = table("partition", COLUMNS, CELLS, page=25)
        with ui.element("div").classes("panel"):
            heading("Settings", 2)
            settings = table("name", SETTINGS, page=10)

        def draw() -> None:
            show_rows(partitions, with_extents(partition_rows(sights, name), known))

        async def load() -> None:
            async with told_if_refused():
                known.update(await observer.kafka.ask(extents, name))
                show_rows(settings, await observer.kafka.ask(setting_rows, name))
            draw()

        redraw_when(lambda: sights.version, draw)
        ui.timer(0, load, once=True)


def draw_actions(observer: Observer, name: str) -> None:
    async def elect() -> None:
        node = observer.watching.sights.topics.get(name)
        async with told_if_refused():
            wanted = [TopicPartition(name, it) for it in (node.partitions if node else ())]
            failed = await observer.actions.elect(wanted)
            ui.notify("; ".join(failed) or "preferred replicas lead")

    dialog = reassignment_dialog(observer, name)
    ui.button("Elect preferred leaders", on_click=elect).props("flat dense")
    ui.button("Move replicas …", on_click=dialog.open).props("flat dense")


def with_extents(rows: list[Row], known: dict[int, Extent]) -> list[Row]:
    for row in rows:
        extent = known.get(row["partition"])
        row["replicas_"] = row.pop("replicas")
        row["first"] = extent.first if extent else None
        row["end"] = extent.end if extent else None
        row["count"] = extent.count if extent else None
    return rows


def setting_rows(cluster: Cluster, name: str) -> list[Row]:
    """Settings, those of the topic itself first."""
    found = describe_configs(cluster, Resource.TOPIC, name)
    ordered = sorted(found, key=lambda it: (it.config_source != ConfigSource.TOPIC, it.name))
    return [
        {
            "name": it.name,
            "value": masked_setting(it.name, it.value, is_sensitive=it.is_sensitive),
            "source": source_text(it.config_source),
        }
        for it in ordered
    ]


def source_text(number: int) -> str:
    names = {it.value: it.name.lower().replace("_", " ") for it in ConfigSource}
    return names.get(number, "?")
