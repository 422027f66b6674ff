"""Znodes that go by themselves: containers that were left empty, and those whose time is up.

The server looks now and then, and asks for a deletion like any client: what is logged decides, so
a child that was created meanwhile saves its container.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from odradek.runtime.clock import wall_clock_ms
from odradek.zookeeper.server.clients import Clients
from odradek.zookeeper.state.asker import NOBODY
from odradek.zookeeper.state.node import ttl_of
from odradek.zookeeper.state.tree import Tree
from odradek.zookeeper.wire.codes import Op


class Cleaner:
    """Deletes at most so many a minute, spread over it."""

    def __init__(self, interval_ms: int, a_minute_max: int, never_used_ms: int) -> None:
        self._interval_s = interval_ms / 1000
        self._pause_s = 60 / a_minute_max
        self._never_used_ms = never_used_ms

    async def run(self, clients: Clients, may_clean: Callable[[], bool]) -> None:
        """Clean as long as the server lives, and whenever it is the one who may."""
        while True:
            await asyncio.sleep(self._interval_s)
            for path in list(self.candidates(clients.tree, wall_clock_ms())):
                if not may_clean():
                    break
                clients.pipeline.propose(NOBODY, 0, Op.DELETE_CONTAINER, path, None)
                await asyncio.sleep(self._pause_s)

    def candidates(self, tree: Tree, wall_ms: int) -> Iterator[str]:
        """What may go now."""
        for path in sorted(tree.containers):
            node = tree.nodes[path]
            is_used = node.cversion > 0
            is_old = 0 < self._never_used_ms < wall_ms - node.mtime
            if not node.child_count and (is_used or is_old):
                yield path
        for path in sorted(tree.ttls):
            node = tree.nodes[path]
            ttl_ms = ttl_of(node.owner)
            if not node.child_count and ttl_ms is not None and wall_ms - node.mtime > ttl_ms:
                yield path
