"""Lines that say which node speaks, and of what."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Iterator
from io import StringIO

import pytest

from odradek.runtime.logs import NodeLog, log_to
from odradek.runtime.secret import Secret


@pytest.fixture(autouse=True)
def restored_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.getLogger("odradek.kafka").setLevel(logging.NOTSET)


@pytest.fixture
def lines() -> StringIO:
    stream = StringIO()
    log_to(stream, pattern="%(levelname)s %(place)s%(message)s")
    return stream


def test_a_line_has_time_level_node_and_part() -> None:
    stream = StringIO()
    log_to(stream)
    NodeLog("broker 1").about("orders-3").info("rolled at offset %d", 4711)
    stamp, line = stream.getvalue()[:23], stream.getvalue()[23:]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}", stamp)
    assert line == " INFO [broker 1] [orders-3] rolled at offset 4711\n"


def test_nodes_in_one_process_are_told_apart(lines: StringIO) -> None:
    NodeLog("broker 1").info("here")
    NodeLog("broker 2").warning("100 %% and %s", "50%")
    NodeLog("100%").info("100 % sure")
    logging.getLogger("elsewhere").error("no node")
    assert lines.getvalue().splitlines() == [
        "INFO [broker 1] here",
        "WARNING [broker 2] 100 % and 50%",
        "INFO [100%] 100 % sure",
        "ERROR no node",
    ]


def test_time_is_that_of_the_loop_where_it_has_its_own() -> None:
    class SimulatedLoop(asyncio.SelectorEventLoop):
        def wall_clock_ms(self) -> int:
            return 86_399_123

    async def speak() -> None:
        NodeLog("broker 1").info("late")

    stream = StringIO()
    handler = log_to(stream)
    assert handler.formatter is not None
    handler.formatter.converter = time.gmtime
    with asyncio.Runner(loop_factory=SimulatedLoop) as runner:
        runner.run(speak())
    assert stream.getvalue() == "1970-01-01 23:59:59,123 INFO [broker 1] late\n"


def test_a_peer_cannot_forge_a_line(lines: StringIO) -> None:
    NodeLog("broker 1").info("client %s", "x\nINFO [broker 2] all is well\x1b[2J\u2028")
    (line,) = lines.getvalue().splitlines()
    assert line == r"INFO [broker 1] client x\nINFO [broker 2] all is well\x1b[2J\u2028"


def test_a_traceback_keeps_its_lines(lines: StringIO) -> None:
    try:
        raise ValueError("boom")
    except ValueError:
        NodeLog("broker 1").exception("died")
    first, *_, last = lines.getvalue().splitlines()
    assert first == "ERROR [broker 1] died"
    assert last == "ValueError: boom"


def test_a_secret_is_not_logged(lines: StringIO) -> None:
    NodeLog("broker 1").info("%s %r %s", Secret("hunter2"), Secret("hunter2"), [Secret("hunter2")])
    assert lines.getvalue() == "INFO [broker 1] [hidden] [hidden] [[hidden]]\n"


def test_levels_are_set_for_all_and_by_name() -> None:
    stream = StringIO()
    log_to(stream, "WARNING", pattern="%(message)s", levels={"odradek.kafka": "DEBUG"})
    NodeLog("broker 1").info("hidden")
    NodeLog("broker 1", logger="odradek.kafka").about("orders-3").debug("shown")
    assert stream.getvalue() == "shown\n"
    with pytest.raises(ValueError, match="LOUD"):
        log_to(stream, "LOUD")


def test_a_second_set_up_replaces_the_first(lines: StringIO) -> None:
    second = StringIO()
    log_to(second, pattern="%(message)s")
    NodeLog("broker 1").info("once")
    assert lines.getvalue() == ""
    assert second.getvalue() == "once\n"
