"""What is often built upon ZooKeeper: a lock, and the election of a leader.

    lock = Lock(client, "/locks/orders", random=random)
    async with await lock.acquire() as held:
        ...  # As long as not held.is_lost.

Both are fair, wake one waiter at a time, and survive lost connections. Who holds one learns by
`held.until_lost()` that it is gone; from then on another may hold it.
"""

from __future__ import annotations

from random import Random

from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.errors import NoNode
from odradek.zookeeper.client.line import Line
from odradek.zookeeper.client.patience import patiently
from odradek.zookeeper.client.place import Place


class Lock:
    """A lock that at most one session holds."""

    def __init__(self, client: ZooKeeperClient, path: str, *, random: Random) -> None:
        self._line = Line(client, path, "lock-", random)

    async def acquire(self, data: bytes = b"") -> Place:
        """Wait for the lock; `data` tells others who holds it."""
        return await self._line.reach_head(data)


class Election:
    """Candidates for one office, of which at most one is the leader."""

    def __init__(self, client: ZooKeeperClient, path: str, *, random: Random) -> None:
        self._client = client
        self._path = path
        self._line = Line(client, path, "candidate-", random)

    async def lead(self, data: bytes = b"") -> Place:
        """Stand as a candidate until elected; `data` tells others who leads."""
        return await self._line.reach_head(data)

    async def leader(self) -> bytes | None:
        """What the leader says of itself, or None if there is no candidate."""
        while names := await self._line.names():
            path = f"{self._path}/{names[0]}"
            try:
                data, _ = await patiently(self._client, self._client.get_data, path)
            except NoNode:
                continue
            return data
        return None
