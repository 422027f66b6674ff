"""Logs: one line an event, and each line says which node, and what of it.

    2026-11-15 09:42:23,123 INFO [broker 1] [orders-3] rolled a new segment at offset 4711

A node hands its own `NodeLog` down to its parts, so that several nodes in one process stay
apart. A context variable would be lost on the way into the executor.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any, TextIO

from odradek.runtime.clock import wall_clock_ms

LINE = "%(asctime)s %(levelname)s %(place)s%(message)s"
CONTROLS = {
    code: repr(chr(code))[1:-1] for code in (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029)
}


class NodeLog(logging.LoggerAdapter[logging.Logger]):
    """A logger whose lines begin with the name of a node, and of a part of it."""

    def __init__(self, *names: str, logger: str = "odradek") -> None:
        place = "".join(f"[{name}] " for name in names)
        super().__init__(logging.getLogger(logger), {"place": place})
        self.names = names

    def about(self, name: str) -> NodeLog:
        """The same node's log for one of its parts: a partition, a session, a peer."""
        return NodeLog(*self.names, name, logger=self.logger.name)


class LineFormatter(logging.Formatter):
    """Stamps with the node's own wall clock, which is virtual in simulation."""

    def __init__(self, pattern: str = LINE) -> None:
        super().__init__(pattern, defaults={"place": ""})

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802
        seconds, ms = divmod(wall_clock_ms(), 1000)
        return time.strftime(datefmt or "%Y-%m-%d %H:%M:%S", self.converter(seconds)) + f",{ms:03d}"

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        # Peers choose some of what we print, such as a client id; none may forge a line.
        record.message = record.message.translate(CONTROLS)
        return super().formatMessage(record)


def log_to(
    stream: TextIO,
    level: str = "INFO",
    *,
    pattern: str = LINE,
    levels: Mapping[str, str] | None = None,
) -> logging.Handler:
    """Send the lines of the whole process to a stream; `levels` names loggers to treat apart."""
    handler = logging.StreamHandler[Any](stream)
    handler.setFormatter(LineFormatter(pattern))
    root = logging.getLogger()
    for old in root.handlers[:]:
        if isinstance(old.formatter, LineFormatter):
            root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level)
    for name, its_level in (levels or {}).items():
        logging.getLogger(name).setLevel(its_level)
    return handler
