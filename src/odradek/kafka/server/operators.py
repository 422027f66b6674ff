"""A door for operators: /metrics for Prometheus, /health for whoever keeps the broker running.

The broker serves its clients without it: a port that is taken is warned about, no more.
"""

from __future__ import annotations

from odradek.kafka.broker.broker import Broker
from odradek.kafka.server.monitor import BrokerMetrics, health
from odradek.runtime.http import HttpRequest, HttpResponse, HttpServer, refusal
from odradek.runtime.logs import NodeLog
from odradek.runtime.stalls import Stalls

METRICS_KIND = "text/plain; version=0.0.4; charset=utf-8"
SILENCE_MAX_S = 30.0
UNWELL = 503


class Operators:
    """Answers what operators ask."""

    def __init__(self, broker: Broker, stalls: Stalls, note: NodeLog) -> None:
        self._broker = broker
        self._note = note
        self._metrics = BrokerMetrics(broker, stalls)
        self._server = HttpServer(self._answer, SILENCE_MAX_S)
        self._is_open = False

    async def open(self, host: str, port: int) -> None:
        try:
            await self._server.open(host, port)
        except OSError as error:
            self._note.warning("no metrics on %s:%s: %s", host, port, error.strerror or error)
            return
        self._is_open = True
        self._note.info("metrics and health on port %s", self._server.port)

    def close(self) -> None:
        if self._is_open:
            self._server.close()

    async def _answer(self, request: HttpRequest) -> HttpResponse:
        if request.method not in ("GET", "HEAD"):
            return refusal(405)
        if request.path == "/metrics":
            return HttpResponse(self._metrics.text(), kind=METRICS_KIND)
        if request.path == "/health":
            is_well, body = health(self._broker)
            return HttpResponse(body, 200 if is_well else UNWELL, "application/json")
        return refusal(404)
