"""A client that changes who votes in an ensemble, again and again, whatever else happens.

Nobody leaves for good: a server that was removed does not start again before an operator names it
in its configuration anew, here as with the original.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from odradek.simulation.processes import Environment
from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.errors import ZooKeeperError
from odradek.zookeeper.client.states import State

MEMBER = "server.{0}=zk{0}:2888:3888:{1};2181"
VOTERS_MIN = 3


class Boss:
    """Takes servers their vote and gives it back; in the end all of them have it."""

    def __init__(self, ids: Sequence[int], servers: str) -> None:
        self.changes = 0
        self.must_stop = False
        self._ids = list(ids)
        self._servers = servers

    async def run(self, environment: Environment) -> None:
        random = environment.random
        client = ZooKeeperClient(self._servers, random=random, session_timeout_ms=6000)
        while not self.must_stop:
            role = random.choice(["participant", "observer"])
            await self._change(client, {random.choice(self._ids): role})
            await asyncio.sleep(random.uniform(0.2, 2))
        while not await self._change(client, dict.fromkeys(self._ids, "participant")):
            await asyncio.sleep(1)
        await client.close()

    async def _change(self, client: ZooKeeperClient, roles: dict[int, str]) -> bool:
        """Say whether it was done, as far as we know."""
        try:
            if client.state in (State.CLOSED, State.LOST):
                await client.connect()
            config, _ = await client.get_config()
            if "observer" in roles.values() and config.count(b":participant") <= VOTERS_MIN:
                return False
            await client.reconfig(joining=",".join(MEMBER.format(*it) for it in roles.items()))
        except ZooKeeperError:
            return False
        self.changes += 1
        return True
