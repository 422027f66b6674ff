"""Where replicas begin their logs, and those that have found no room for one.

A controller takes a replica without a log for offline, and does not ask for it again. So a log that
found no room is begun as soon as there is some; then the controller hears what it hears of a disk
that failed, upon which it asks for all replicas of this broker once more. Until then the replica
can neither lead nor follow, and loses nothing, for it never held anything.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import NamedTuple

from odradek.kafka.controller.znodes import id_text
from odradek.kafka.storage.directories import LogDirectories
from odradek.kafka.storage.directory import LogDirectory
from odradek.kafka.storage.errors import DISK_TROUBLE
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.schema import ZERO_UUID
from odradek.runtime.disk import DiskFull
from odradek.runtime.logs import NodeLog
from odradek.runtime.tasks import Tasks

AGAIN_S = 1.0


class Unbegun(NamedTuple):
    """A replica that has no log yet."""

    where: TopicPartition
    topic_id: bytes
    is_new: bool  # If not, it may have a log that is out of reach.


class Beginnings:
    """The logs that one broker begins.

    What the node wires: `failed` is given a directory whose disk failed, and why; `room_found` is
    called once nothing waits for room any more.
    """

    def __init__(self, directories: LogDirectories, tasks: Tasks, note: NodeLog) -> None:
        self.preferred: dict[TopicPartition, str] = {}  # The directories of those not here yet.
        self.failed: Callable[[LogDirectory, Exception], None] = lambda directory, error: None
        self.room_found: Callable[[], None] = lambda: None
        self._directories = directories
        self._tasks = tasks
        self._note = note
        self._waiting: dict[TopicPartition, Unbegun] = {}
        self._is_trying = False

    def begin(self, wanted: Unbegun) -> Log | None:
        """A log for a replica that has none; None if that cannot be, or not yet."""
        try:
            return self._begin(wanted)
        except DiskFull as error:
            self._note.warning("%s waits for room: %s", wanted.where, error)
            self._waiting[wanted.where] = wanted
            if not self._is_trying:
                self._is_trying = True
                self._tasks.start("logs without room", self._try_again(), may_end=True)
            return None

    def forget(self, partitions: Iterable[TopicPartition]) -> None:
        """These are to have no log, or none that anybody asked for."""
        for where in partitions:
            self.preferred.pop(where, None)
            self._waiting.pop(where, None)

    def _begin(self, wanted: Unbegun) -> Log | None:
        where, topic_id, is_new = wanted
        directories = self._directories
        if not directories.online or (directories.offline and not is_new):
            return None  # It may be in one that is offline.
        preferred = self.preferred.get(where)
        directory = next((it for it in directories.online if it.path == preferred), None)
        directory = directory or directories.emptiest()
        text = id_text(topic_id) if topic_id != ZERO_UUID else None
        try:
            log = directories.create(where, text, directory)
        except DiskFull:
            raise
        except DISK_TROUBLE as error:
            self.failed(directory, error)
            return None
        self.preferred.pop(where, None)
        return log

    async def _try_again(self) -> None:
        while self._waiting:
            await asyncio.sleep(AGAIN_S)
            self._begin_waiting()
        self._is_trying = False
        self.room_found()

    def _begin_waiting(self) -> None:
        """Begin as many of them as there is room for now."""
        for where, wanted in list(self._waiting.items()):
            try:
                log = self._directories.find(where) or self._begin(wanted)
            except DiskFull:
                return
            del self._waiting[where]
            if log is not None:
                self._note.info("%s has found room", where)
