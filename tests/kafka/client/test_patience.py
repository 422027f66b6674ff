"""Pauses that grow, end with news, and end altogether."""

from __future__ import annotations

import pytest

from odradek.kafka.client.errors import TimedOut
from odradek.kafka.client.patience import Patience
from odradek.kafka.client.settings import client_settings

SETTINGS = client_settings(
    {
        "bootstrap.servers": "a:1",
        "retry.backoff.ms": "100",
        "retry.backoff.max.ms": "400",
        "default.api.timeout.ms": "10000",
    }
)


def test_pauses_grow_up_to_a_limit_and_are_short_again_after_news() -> None:
    waited: list[float] = []

    def wait(seconds: float) -> bool:
        waited.append(seconds)
        return len(waited) == 5

    patience = Patience("it", SETTINGS, wait=wait)
    for _ in range(7):
        patience.pause("trouble")
    assert waited == [0.1, 0.2, 0.4, 0.4, 0.4, 0.1, 0.2]


def test_without_time_for_a_pause_the_last_trouble_is_told() -> None:
    patience = Patience("it", SETTINGS, 50)
    with pytest.raises(TimedOut, match=r"it: gave up after 0.05 s: trouble"):
        patience.pause("trouble")
