"""All relays of a cluster, on a loop in a thread of their own, told what to do by other threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any, TypeVar

from odradek.kafka.wire.messages.metadata import MetadataResponseBroker
from odradek.testing.kafka_link import KafkaLink
from odradek.testing.relay import Link, Network, Pair, Relay, plain_link
from odradek.testing.rules import Rules

Result = TypeVar("Result")
DONE_WITHIN_S = 30.0


class Wires:
    """Relays by name; `open` before the servers are planned, `lead_to` when their ports are."""

    def __init__(self, names_by_pid: Callable[[], Mapping[int, str]]) -> None:
        self.rules = Rules()
        self.brokers: list[MetadataResponseBroker] = []  # As a refused client is told of them.
        self._loop = asyncio.new_event_loop()
        self._network = Network(names_by_pid)
        self._relays: dict[tuple[str, int], Relay] = {}
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="odradek relays", daemon=True
        )
        self._thread.start()

    def do(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Have something done on the loop; what came of it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(DONE_WITHIN_S)

    def open(self, server: str, place: int = 0, *, is_broker: bool = False) -> int:
        """A port in front of one of a server's; `place` tells several apart."""
        make = partial(self._kafka_link, server) if is_broker else plain_link
        relay = self._relays[server, place] = Relay(self._network, server, make)
        return self.do(relay.open())

    def lead_to(self, server: str, place: int, port: int) -> None:
        self._relays[server, place].target_port = port

    def cut(self, pair: Pair) -> None:
        self._call(self._network.cut, pair)

    def heal(self, pair: Pair | None = None) -> None:
        self._call(self._network.heal, pair)

    def close(self) -> None:
        for relay in self._relays.values():
            self.do(relay.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _kafka_link(self, broker: str, network: Network, pair: Pair, source: str) -> Link:
        return KafkaLink(network, pair, source, broker, self.rules, self.brokers)

    def _call(self, function: Callable[..., None], *arguments: object) -> None:
        async def called() -> None:
            function(*arguments)

        self.do(called())
