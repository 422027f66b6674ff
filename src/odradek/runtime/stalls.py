"""Stalls: how long a loop was busy with one thing and deaf to all others.

A server that is deaf for as long as its session lasts has lost it; so the longest stall is shown
to operators, and a long one is told at once.
"""

from __future__ import annotations

import asyncio

from odradek.runtime.logs import NodeLog

LOOK_EVERY_S = 0.1
LONG_S = 1.0


class Stalls:
    """Watches the running loop."""

    def __init__(self, note: NodeLog) -> None:
        self.longest_s = 0.0
        self._note = note

    async def watch(self) -> None:
        """Wake up again and again, and see how late that was."""
        clock = asyncio.get_running_loop().time
        while True:
            asleep_since = clock()
            await asyncio.sleep(LOOK_EVERY_S)
            late_s = clock() - asleep_since - LOOK_EVERY_S
            self.longest_s = max(self.longest_s, late_s)
            if late_s > LONG_S:
                self._note.warning("the loop was busy for %.1f s and heard nobody", late_s)
