"""A loop that was busy for long is told about."""

from __future__ import annotations

import asyncio
import logging

import pytest

from odradek.runtime.logs import NodeLog
from odradek.runtime.stalls import LOOK_EVERY_S, Stalls


def test_the_longest_stall_is_kept_and_a_long_one_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story() -> float:
        stalls = Stalls(NodeLog("node"))
        watching = asyncio.get_running_loop().create_task(stalls.watch())
        await asyncio.sleep(0)
        clock = asyncio.get_running_loop().time
        busy_until = clock() + LOOK_EVERY_S + 1.2
        while clock() < busy_until:
            pass
        await asyncio.sleep(0.01)
        watching.cancel()
        return stalls.longest_s

    with caplog.at_level(logging.WARNING):
        assert asyncio.run(story()) >= 1.1
    assert "heard nobody" in caplog.text
