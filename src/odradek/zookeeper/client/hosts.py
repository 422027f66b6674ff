"""Which server to try next, and after how long a pause.

The order is shuffled once, so that clients spread over the servers, and then goes round. Before
each try but the first there is a pause of random length, so that clients which lost the same
server do not come back as one; its limit doubles with each round of failures.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from odradek.zookeeper.client.connect_string import Address

PAUSE_S_FIRST = 0.1
PAUSE_S_MAX = 1.0
DOUBLINGS_MAX = 10


class Hosts:
    """The servers of one client."""

    def __init__(self, addresses: Sequence[Address], random: Random) -> None:
        self._random = random
        self._order = random.sample(addresses, len(addresses))
        self._tries = 0  # Since the last success.
        self._position = -1
        self._is_new = True

    def __len__(self) -> int:
        return len(self._order)

    def next(self) -> Address:
        """The server to try now."""
        self._tries += 1
        self._is_new = False
        self._position = (self._position + 1) % len(self._order)
        return self._order[self._position]

    def step_back(self) -> None:
        """Let the server tried last be the next once more."""
        self._position -= 1

    def pause_s(self) -> float:
        """How long to wait before that."""
        if self._is_new:
            return 0.0
        rounds = min(self._tries // len(self._order), DOUBLINGS_MAX)
        return self._random.uniform(0, min(PAUSE_S_MAX, PAUSE_S_FIRST * 2**rounds))

    def succeeded(self) -> None:
        """The server tried last is one to work with."""
        self._tries = 0
