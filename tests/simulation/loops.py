"""The loops on which the same code must behave the same."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop

from odradek.simulation import world

LIMIT_S = 30  # On real loops. In virtual time nothing can hang.

Body = Callable[[], Coroutine[Any, Any, Any]]
Run = Callable[[Body], Any]


def on_asyncio(body: Body) -> Any:
    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        return runner.run(asyncio.wait_for(body(), LIMIT_S))


def on_uvloop(body: Body) -> Any:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(asyncio.wait_for(body(), LIMIT_S))


def on_simulation(body: Body) -> Any:
    return world.run(lambda environment: body())


def on_loops(*runs: Run) -> Callable[[Body], Callable[[Run], None]]:
    """Make a coroutine function into a test that runs it on each of these loops."""

    def make_test(body: Body) -> Callable[[Run], None]:
        @pytest.mark.parametrize("run", runs)
        def test(run: Run) -> None:
            run(body)

        test.__name__ = body.__name__
        return test

    return make_test


on_every_loop = on_loops(on_asyncio, on_uvloop, on_simulation)
