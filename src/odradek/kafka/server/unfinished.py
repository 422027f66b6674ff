"""A request that waits, without a task: it goes on as soon as what it waits for is done.

A task costs more than a small answer does. A produce or a fetch waits for futures alone (for
replicas, for bytes, for a disk), and for nothing that must know its task, such as a timeout.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from odradek.kafka.broker.parked import Awaited
from odradek.kafka.wire.schema import Message

Ended = Callable[[Message | None, Exception | None], None]


class Unfinished:
    """A handler that was begun, and the future that it waits for."""

    __slots__ = ("_ended", "_handler", "_is_cancelled", "_waits_for")

    def __init__(
        self,
        handler: Coroutine[Any, Any, Message | None],
        waits_for: asyncio.Future[Any],
        ended: Ended,
    ) -> None:
        self._handler = handler
        self._ended = ended
        self._is_cancelled = False
        self._wait(waits_for)

    def cancel(self) -> None:
        """Nobody wants the answer any more."""
        self._is_cancelled = True
        if isinstance(self._waits_for, Awaited):
            self._waits_for.goes_on = None
        else:
            self._waits_for.remove_done_callback(self._go_on)
        with suppress(asyncio.CancelledError):
            self._handler.throw(asyncio.CancelledError())
        self._handler.close()

    def _wait(self, waits_for: asyncio.Future[Any]) -> None:
        self._waits_for = waits_for
        waits_for._asyncio_future_blocking = False  # As a task says that it has taken note.
        if isinstance(waits_for, Awaited):
            waits_for.goes_on = self._go_on
        else:
            waits_for.add_done_callback(self._go_on)

    def _go_on(self, _: asyncio.Future[Any]) -> None:
        if self._is_cancelled:
            return  # The future was done, and this call on its way, when we were cancelled.
        try:
            waits_for = self._handler.send(None)
        except StopIteration as done:
            self._ended(done.value, None)
        except Exception as error:
            self._ended(None, error)
        else:
            self._wait(waits_for)
