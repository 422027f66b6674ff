"""Three brokers that are killed, cut off, paused and robbed of power.

All the time: each epoch has one leader, who is in sync; all that are in sync have what is
committed; below their high watermarks all logs are the same; a reader sees no offset with two
contents, and skips none. In the end, whatever was acknowledged by all in-sync replicas is there, at
the offset that was answered, every batch once and in order.
"""

from __future__ import annotations

import os

import pytest

from tests.kafka.server.troubled import live

SEEDS = int(os.environ.get("SEEDS", "3"))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_what_was_acknowledged_survives_kills_cuts_and_pauses(seed: int) -> None:
    live(seed)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_what_was_flushed_survives_losses_of_power(seed: int) -> None:
    live(seed, power=True, flush_messages=1)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_one_replica_in_sync_is_enough_if_it_lives(seed: int) -> None:
    live(seed, power=True, flush_messages=1, min_insync_replicas=1)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_brokers_of_an_older_protocol_lose_nothing_either(seed: int) -> None:
    """They ask where epochs end before they fetch (KIP-101, KIP-279)."""
    live(seed, settings="inter.broker.protocol.version=2.6\n")
