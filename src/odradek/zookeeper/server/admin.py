"""The admin server: `GET /commands/<name>`, answered in JSON.

Whoever can reach the port may ask. Only to take a snapshot, or to restore one, needs an
`Authorization` of a scheme and credentials, whose ids must have all permissions on the root.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from odradek.runtime.disk import Disk
from odradek.runtime.http import HttpRequest, HttpResponse, refusal
from odradek.zookeeper.server.admin_commands import ALIASES, ALWAYS_ANSWERED, COMMANDS, Fields
from odradek.zookeeper.server.four_letter import NOT_SERVING
from odradek.zookeeper.server.overview import Overview
from odradek.zookeeper.state import acl
from odradek.zookeeper.state.paths import ROOT
from odradek.zookeeper.storage.names import SNAPSHOT
from odradek.zookeeper.wire.codes import Perms
from odradek.zookeeper.wire.messages.data import Id

GUARDED = ("restore", "snapshot")
NAMES = sorted([*COMMANDS, *GUARDED])
METHODS = ("GET", "HEAD", "POST")
PIECE_BYTES = 256 * 1024
ALL_PERMS = [perm for perm in Perms if perm != Perms.ALL]


class Admin:
    """Answers requests about one server."""

    def __init__(self, overview: Overview) -> None:
        self._overview = overview
        self._url = overview.settings.admin_command_url.rstrip("/")
        self._may_snapshot_s = 0.0  # When, on the loop's clock, the next one may be taken.

    async def answer(self, request: HttpRequest) -> HttpResponse:
        """The answer to any request."""
        if request.path != self._url and not request.path.startswith(self._url + "/"):
            return refusal(404)
        if request.method not in METHODS:
            return refusal(405)
        name = request.path[len(self._url) + 1 :]
        return await self._run(ALIASES.get(name, name), request) if name else self._links()

    def _links(self) -> HttpResponse:
        links = (f'<a href="{self._url}/{name}">{name}</a>\n<br/>\n' for name in NAMES)
        return HttpResponse("".join(links).encode(), kind="text/html;charset=utf-8")

    async def _run(self, name: str, request: HttpRequest) -> HttpResponse:
        if name not in NAMES:
            return answered(name, {"error": f"Unknown command: {name}"})
        if name not in ALWAYS_ANSWERED and not self._overview.has_answers:
            return answered(name, {"error": NOT_SERVING})
        if name in GUARDED:
            return self._refuse(name, request) or await self._run_guarded(name, request)
        if request.method == "POST":
            return refusal(405)
        return answered(name, COMMANDS[name](self._overview, request.query))

    # What not everybody may do

    def _refuse(self, name: str, request: HttpRequest) -> HttpResponse | None:
        authorization = request.headers.get("authorization")
        if authorization is None:
            return answered(name, {"error": "Auth info is missing for the command"}, 401)
        ids = ids_of(authorization, request.address, self._overview.clients.settings.super_digest)
        if not ids:
            return answered(name, {"error": "Not authenticated"}, 401)
        root = self._overview.clients.tree.nodes[ROOT]
        if self._overview.settings.skip_acl:
            return None
        if not all(acl.allows(root.acl, perm, ids) for perm in ALL_PERMS):
            return answered(name, {"error": "Not authorized"}, 403)
        return None

    async def _run_guarded(self, name: str, request: HttpRequest) -> HttpResponse:
        if name == "restore":
            # The tree of a server that serves is not taken away under its clients.
            why = "not supported: stop the server and put the snapshot into its directory"
            return answered(name, {"error": why}, 503)
        if request.method == "POST":
            return refusal(405)
        if not self._overview.settings.admin_snapshot_enabled:
            return answered(name, {}, 503)
        if not self._overview.settings.serialize_last_processed_zxid_enabled:
            return answered(name, {}, 500)
        if not self._may_snapshot_now():
            self._overview.clients.stats.counts.snapshot_rate_limited_count += 1
            return answered(name, {}, 429)
        return await self._snapshot(is_streamed=request.query.get("streaming", "true") == "true")

    def _may_snapshot_now(self) -> bool:
        now_s = asyncio.get_running_loop().time()
        if now_s < self._may_snapshot_s:
            return False
        # The key says milliseconds; the original takes microseconds here, and scripts rely on it.
        self._may_snapshot_s = now_s + self._overview.settings.admin_rate_limiter_interval_ms / 1e6
        return True

    async def _snapshot(self, *, is_streamed: bool) -> HttpResponse:
        overview, disk = self._overview, self._overview.disk
        path = await overview.snapshots.take()
        match = SNAPSHOT.fullmatch(path.rpartition("/")[2]) if path else None
        if path is None or match is None:
            return answered("snapshot", {}, 500)
        with disk.open(path, read_only=True) as file:
            size = file.size()
        headers = {"last_zxid": f"0x{match[1]}", "snapshot_size": str(size)}
        if not is_streamed:
            return answered("snapshot", {}, headers=headers)
        return HttpResponse(
            kind="application/octet-stream",
            headers=headers,
            pieces=pieces_of(disk, path, size),
            piece_bytes=size,
        )


def answered(
    name: str, fields: Fields, status: int = 200, headers: dict[str, str] | None = None
) -> HttpResponse:
    shown = fields | {"command": name, "error": fields.get("error")}
    text = json.dumps(shown, indent=2, separators=(",", " : "), ensure_ascii=False)
    return HttpResponse(text.encode(), status, "application/json", headers or {})


def ids_of(authorization: str, address: str, super_digest: str | None) -> list[Id]:
    """Who asks, by what stands in the header; nobody if it is not understood."""
    scheme, *credentials = authorization.split(" ")
    if scheme == "ip" and len(credentials) <= 1:
        return [Id("ip", address)]
    if scheme != "digest" or len(credentials) != 1:
        return []
    digest = acl.digest_of(credentials[0].encode())
    ids = [Id("digest", digest)]
    return [Id(acl.SUPER, ""), *ids] if digest == super_digest else ids


async def pieces_of(disk: Disk, path: str, size: int) -> AsyncIterator[bytes]:
    """A file in pieces, each read off the loop."""
    in_thread = asyncio.get_running_loop().run_in_executor
    with disk.open(path, read_only=True) as file:
        for position in range(0, size, PIECE_BYTES):
            yield await in_thread(None, file.pread, position, min(PIECE_BYTES, size - position))
