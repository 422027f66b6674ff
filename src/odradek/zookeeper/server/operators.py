"""The doors for operators: four-letter words, the admin server, metrics.

The server serves its clients without them: a port that is taken is warned about, no more.
"""

from __future__ import annotations

from odradek.runtime.disk import Disk
from odradek.runtime.http import Handler, HttpRequest, HttpResponse, HttpServer, refusal
from odradek.runtime.logs import NodeLog
from odradek.zookeeper.server.admin import Admin
from odradek.zookeeper.server.clients import Clients
from odradek.zookeeper.server.four_letter import FourLetterWords
from odradek.zookeeper.server.monitor import ServerMetrics
from odradek.zookeeper.server.overview import Overview
from odradek.zookeeper.server.snapshots import Snapshots
from odradek.zookeeper.server.standing import Standing
from odradek.zookeeper.settings import ZooKeeperSettings
from odradek.zookeeper.storage.directories import Directories

METRICS_PATH = "/metrics"
METRICS_KIND = "text/plain; version=0.0.4; charset=utf-8"
METRICS_SILENCE_MAX_S = 30.0


class Operators:
    """Opens and closes them all."""

    def __init__(
        self,
        settings: ZooKeeperSettings,
        disk: Disk,
        directories: Directories,
        clients: Clients,
        snapshots: Snapshots,
        port: int,
        note: NodeLog,
        standing: Standing | None = None,
    ) -> None:
        self.overview = Overview(
            settings, disk, directories, clients, snapshots, port, clients.now_ms(), standing
        )
        self.admin: HttpServer | None = None
        self.metrics: HttpServer | None = None
        self._note = note
        self._metrics = ServerMetrics(self.overview)
        self.hear_word = FourLetterWords(self.overview).hear

    async def open(self) -> None:
        settings = self.overview.settings
        if settings.admin_enabled:
            address = (settings.admin_address, settings.admin_port)
            silence_max_s = settings.admin_idle_timeout_ms / 1000
            self.admin = await self._open(
                "admin server", Admin(self.overview).answer, address, silence_max_s
            )
        if settings.is_prometheus_served:
            address = (settings.metrics_http_host, settings.metrics_http_port)
            self.metrics = await self._open(
                "metrics", self._answer_metrics, address, METRICS_SILENCE_MAX_S
            )

    def close(self) -> None:
        for server in (self.admin, self.metrics):
            if server is not None:
                server.close()

    async def _open(
        self, what: str, handle: Handler, address: tuple[str, int], silence_max_s: float
    ) -> HttpServer | None:
        server = HttpServer(handle, silence_max_s)
        host, port = address
        try:
            await server.open(host, port)
        except OSError as error:
            self._note.warning("no %s on %s:%s: %s", what, host, port, error.strerror or error)
            return None
        self._note.info("%s on port %s", what, server.port)
        return server

    async def _answer_metrics(self, request: HttpRequest) -> HttpResponse:
        if request.path != METRICS_PATH:
            return refusal(404)
        if request.method not in ("GET", "HEAD"):
            return refusal(405)
        return HttpResponse(self._metrics.text(), kind=METRICS_KIND)
