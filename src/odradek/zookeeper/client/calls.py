"""One request, from the moment it was asked for to its result."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from odradek.zookeeper.client.errors import ZooKeeperError, error_of
from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.errors import Error
from odradek.zookeeper.wire.operations import Body
from odradek.zookeeper.wire.replies import Reply

Finish = Callable[[Any], Any]


class Call:
    """A request and the future of its caller.

    `finish` makes the result out of the reply's record, at once when the reply is read: a watch
    that it sets is there before the next notification. `if_missing` gives NO_NODE a meaning.
    """

    __slots__ = ("finish", "future", "if_missing", "op", "path", "record")

    def __init__(
        self,
        op: Op,
        record: Body | None,
        path: str | None,
        finish: Finish,
        future: asyncio.Future[Any],
        if_missing: Callable[[], Any] | None = None,
    ) -> None:
        self.op = op
        self.record = record
        self.path = path
        self.finish = finish
        self.future = future
        self.if_missing = if_missing

    def answer(self, reply: Reply) -> None:
        """Give the caller its result, if it still wants one."""
        if self.future.done():
            return
        if reply.err == Error.OK or reply.record is not None:
            self._finish(reply.record)
        elif reply.err == Error.NO_NODE and self.if_missing is not None:
            self.future.set_result(self.if_missing())
        else:
            self.future.set_exception(error_of(reply.err, self.path))

    def _finish(self, record: Body | None) -> None:
        try:
            result = self.finish(record)
        except ZooKeeperError as error:
            self.future.set_exception(error)
        else:
            self.future.set_result(result)

    def fail(self, kind: type[ZooKeeperError]) -> None:
        """Tell the caller that there will be no reply."""
        if not self.future.done():
            self.future.set_exception(kind(self.path))
