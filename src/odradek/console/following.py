"""Whoever follows a partition shares one reader with all others who do.

The reader begins at the end of the log with the first follower, asks anew every `LOOK_S` seconds,
and ends with the last.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from odradek.console.kafka_side import KafkaSide
from odradek.console.reading import read_from
from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.wire.records import Record
from odradek.runtime.errors import OdradekError

LOOK_S = 0.4
AT_ONCE = 500
Follower = Callable[[list[Record]], None]


class Follows:
    """Followers by partition, and a task for each partition that has some."""

    def __init__(self, kafka: KafkaSide) -> None:
        self._kafka = kafka
        self._followers: dict[TopicPartition, dict[Follower, None]] = {}
        self._tasks: dict[TopicPartition, asyncio.Task[None]] = {}
        self._started: dict[TopicPartition, asyncio.Event] = {}  # Set when the end is known.

    async def begin(self, where: TopicPartition, follower: Follower) -> None:
        """Tell of every message that comes after this has returned."""
        self._followers.setdefault(where, {})[follower] = None
        started = self._started.setdefault(where, asyncio.Event())
        if where not in self._tasks:
            work = self._read_on(where, started)
            self._tasks[where] = asyncio.get_running_loop().create_task(
                work, name=f"follow {where}"
            )
        await started.wait()

    def end(self, where: TopicPartition, follower: Follower) -> None:
        followers = self._followers.get(where, {})
        followers.pop(follower, None)
        if not followers and where in self._tasks:
            self._followers.pop(where, None)
            self._started.pop(where, None)
            self._tasks.pop(where).cancel()

    def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()

    async def _read_on(self, where: TopicPartition, started: asyncio.Event) -> None:
        offset: int | None = None
        while True:
            try:
                # Nothing of what is there already: who follows has seen it, or does not want it.
                slice_ = await self._kafka.ask(
                    read_from, where, 2**62 if offset is None else offset, AT_ONCE
                )
            except (OdradekError, OSError):
                await asyncio.sleep(LOOK_S * 5)  # The leader may be another one soon.
                continue
            offset = slice_.next_offset
            started.set()
            if slice_.records:
                for follower in list(self._followers.get(where, ())):
                    follower(slice_.records)
            await asyncio.sleep(LOOK_S)
