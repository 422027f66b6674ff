"""Znodes: a tree that is read as it is opened, and changes as ZooKeeper does."""

from __future__ import annotations

import asyncio
from typing import Any

from nicegui import ui

from odradek.console.decoding import shown
from odradek.console.masking import masked_acl, masked_znode
from odradek.console.observer import Observer
from odradek.console.pages.frame import GLANCE_S, framed, heading, told_if_refused
from odradek.console.pages.session import NOT_TOLD, owners, watcher_rows
from odradek.console.pages.tables import link, show_rows, table
from odradek.console.rows import time_text
from odradek.zookeeper.client.errors import NoAuth, NoNode
from odradek.zookeeper.wire.messages.data import ACL, Stat

CHILDREN_MAX = 500
PERMISSIONS = {1: "r", 2: "w", 4: "c", 8: "d", 16: "a"}
WATCHERS = {"session": "session", "owner": "whose", "server": "at"}
Node = dict[str, Any]


class ZnodesPage:
    """One browser's view of the tree."""

    def __init__(self, observer: Observer, path: str) -> None:
        self._observer = observer
        self._watching = observer.watching
        self._path = path if path.startswith("/") else "/"
        self._root: Node = {"id": "/", "label": "/", "children": []}
        self._nodes: dict[str, Node] = {"/": self._root}
        self._opened: set[str] = set()
        self._touched: set[str] = set()

    def draw(self) -> None:
        with framed(self._observer, "Znodes", "/znodes"):
            heading("Znodes")
            with ui.element("div").classes("split"):
                with ui.element("div").classes("panel tree"):
                    self._tree = ui.tree([self._root], on_select=self._selected)
                    self._tree.on_expand(self._expanded)
                    self._tree.props("dense no-connectors selected-color=primary")
                with ui.element("div").classes("panel"):
                    self._draw_detail()
        self._watching.listen(self._touched.add)
        listener = self._touched.add
        ui.context.client.on_delete(lambda: self._watching.unlisten(listener))
        ui.timer(0, self._begin, once=True)
        ui.timer(GLANCE_S, self._catch_up)

    def _draw_detail(self) -> None:
        self._title = ui.label().classes("mono").style("word-break:break-all")
        self._facts = ui.element("div").classes("facts")
        with ui.element("pre").classes("data mono"):
            self._data = ui.label().style("white-space:pre-wrap")
        with ui.element("div").classes("line"):
            heading("Watched by", 2)
            ui.button("Refresh", icon="refresh", on_click=self._show_watchers).props("flat dense")
        self._note = ui.label().classes("soft")
        self._watchers = table("session", WATCHERS, {"session": link()}, page=10)

    async def _begin(self) -> None:
        """Open the way down to the path that was asked for."""
        names = [it for it in self._path.split("/") if it]
        way = ["/", *("/" + "/".join(names[:count]) for count in range(1, len(names) + 1))]
        async with told_if_refused():
            for path in way[:-1] or ["/"]:
                await self._open(path)
            self._tree.expand([it for it in way if it in self._opened])
            self._tree.select(self._path)
            await self._show()

    async def _expanded(self, event: Any) -> None:
        async with told_if_refused():
            for path in event.value or []:
                if path not in self._opened and path in self._nodes:
                    await self._open(path)

    async def _open(self, path: str) -> None:
        """Read the children of a znode, and how many each of them has."""
        client = self._watching.client
        try:
            names = sorted(await client.get_children(path, self._watching.watch), key=in_order)
        except (NoNode, NoAuth):
            return
        parent = self._nodes.get(path)
        if parent is None:
            return
        self._opened.add(path)
        old = {it["id"]: it for it in parent["children"]}
        children = [old.get(it) or self._node(it) for it in joined(path, names[:CHILDREN_MAX])]
        stats = await asyncio.gather(*[client.exists(child["id"]) for child in children])
        for child, stat in zip(children, stats, strict=True):
            self._describe(child, stat)
        if len(names) > CHILDREN_MAX:
            more = f"… and {len(names) - CHILDREN_MAX:,} more"
            children.append({"id": f"{path}//more", "label": more, "children": []})
        parent["children"] = children
        self._tree.props["nodes"] = [self._root]

    def _node(self, path: str) -> Node:
        node: Node = {"id": path, "label": path.rpartition("/")[2], "children": []}
        self._nodes[path] = node
        return node

    def _describe(self, node: Node, stat: Stat | None) -> None:
        if stat and stat.ephemeral_owner:
            node["icon"] = "bolt"
        if stat and stat.num_children and node["id"] not in self._opened:
            node["children"] = [{"id": f"{node['id']}//", "label": "…"}]  # Until it is opened.
        elif not stat or not stat.num_children:
            node["children"] = []

    async def _selected(self, event: Any) -> None:
        if event.value and "//" not in event.value:
            self._path = event.value
            async with told_if_refused():
                await self._show()

    async def _catch_up(self) -> None:
        """Read again what has changed since, of what is open or shown."""
        touched = self._touched.copy()
        self._touched.clear()
        stale = {it.rpartition("/")[0] or "/" for it in touched} | touched
        async with told_if_refused():
            for path in sorted(stale & self._opened):
                await self._open(path)
            if self._path in stale:
                await self._show()

    async def _show(self) -> None:
        client, path = self._watching.client, self._path
        self._title.set_text(path)
        try:
            data, stat = await client.get_data(path, self._watching.watch)
            acl, _ = await client.get_acl(path)
        except (NoNode, NoAuth) as error:
            self._facts.clear()
            self._data.set_text("gone" if isinstance(error, NoNode) else "not for us to read")
            return
        self._data.set_text(shown(masked_znode(path, data), is_pretty=True) or "(empty)")
        self._facts.clear()
        with self._facts:
            for name, value in facts_of(stat, acl).items():
                ui.label(name).classes("k")
                ui.label(value).classes("mono")
        await self._show_watchers()

    async def _show_watchers(self) -> None:
        """Sessions that watch the data of the znode, as far as servers tell."""
        sessions = await self._observer.ask_sessions()
        rows = watcher_rows(sessions, self._path, owners(self._observer))
        show_rows(self._watchers, rows)
        self._note.set_text(watchers_text(len(rows), tells=sessions.tells_watches))


def watchers_text(count: int, *, tells: bool) -> str:
    if not tells:
        return NOT_TOLD
    return "" if count else "No session watches its data."


def in_order(name: str) -> tuple[int, int, str]:
    """Numbers by their value, and before names."""
    return (0, int(name), "") if name.isdecimal() else (1, 0, name)


def joined(path: str, names: list[str]) -> list[str]:
    return [f"{path.rstrip('/')}/{name}" for name in names]


def facts_of(stat: Stat, acl: list[ACL]) -> dict[str, str]:
    owner = f"{stat.ephemeral_owner:#x}" if stat.ephemeral_owner else "none: it stays"
    return {
        "version": f"{stat.version}  (children {stat.cversion}, ACL {stat.aversion})",
        "ephemeral owner": owner,
        "created": f"{time_text(stat.ctime)}  zxid {stat.czxid:#x}",
        "modified": f"{time_text(stat.mtime)}  zxid {stat.mzxid:#x}",
        "children": f"{stat.num_children}  (last change zxid {stat.pzxid:#x})",
        "bytes": f"{stat.data_length:,}",
        "ACL": ", ".join(acl_text(it) for it in acl),
    }


def acl_text(acl: ACL) -> str:
    letters = "".join(letter for bit, letter in PERMISSIONS.items() if acl.perms & bit)
    scheme = acl.id.scheme or ""
    return f"{scheme}:{masked_acl(scheme, acl.id.id or '')}:{letters}"


def znodes_page(observer: Observer, path: str) -> None:
    ZnodesPage(observer, path).draw()
