"""A broker that cleans its logs and dies at any moment: no key loses its last value.

A producer writes the values of a few keys, and repeats whatever was not answered, across all
lives of its broker. What is left in the end must be some of what was sent, each record under the
offset that it was given, in order, and among it the last of every key.
"""

from __future__ import annotations

import os
from functools import partial

import pytest

from odradek.kafka.settings import BrokerSettings
from odradek.kafka.wire.batch import read_batches
from odradek.kafka.wire.messages.fetch import FetchResponse
from odradek.kafka.wire.records import Record
from odradek.runtime.properties import Properties
from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from tests.kafka.broker.asking import (
    NAMES_VERSION,
    fetch_of,
    records_of,
    told,
)
from tests.kafka.broker.members import serve_zookeeper
from tests.kafka.server.starting import started
from tests.kafka.server.test_crashes import (
    BATCHES,
    LIVES,
    PROPERTIES,
    TOPIC,
    Producer,
    crash,
    has_answered,
    key_of,
)

SEEDS = int(os.environ.get("SEEDS", "3"))
CLEANING = b"""
log.cleaner.backoff.ms=20
log.segment.delete.delay.ms=50
"""
COMPACTED = {
    "cleanup.policy": "compact",
    "segment.bytes": "1500",
    "min.cleanable.dirty.ratio": "0.01",
}


class Settings:
    """What all lives of the broker have in common, and what they did."""

    def __init__(self) -> None:
        self.cleanings = 0
        self._settings = BrokerSettings(Properties.parse(PROPERTIES + CLEANING, "server"))

    async def serve(self, environment: Environment) -> None:
        node = await started(self._settings, environment)
        self._figures = node.broker.cleaner.figures
        await node.tasks.until_stopped()

    def count(self) -> None:
        self.cleanings += self._figures.cleanings
        assert not self._figures.uncleanable


class KeyedProducer(Producer):
    """Writes the values of a few keys."""

    def __init__(self) -> None:
        super().__init__(flush_messages=1)
        self.configs |= COMPACTED
        self.kept: list[Record] = []

    async def _read_all(self) -> None:
        end, offset = sum(map(len, self.sent)), 0
        while offset < end:
            request = fetch_of(offset, topic=TOPIC, wait_ms=100)
            (data,) = told(await self._ask(request, NAMES_VERSION, FetchResponse))
            if data.error_code:
                await self._pause(data.error_code)
            self.kept += (it for it in records_of(data) if it.offset >= offset)
            # A batch ends where it always did, even if its last records are gone.
            ends = [it.last_offset + 1 for it in read_batches(memoryview(data.records or b""))]
            offset = max(ends, default=offset)


def live(seed: int) -> tuple[KeyedProducer, int]:
    """Several lives of one broker; what was produced, and how often a log was cleaned."""
    producer, settings = KeyedProducer(), Settings()
    with World(seed) as world:
        random = world.stream("crashes")
        world.host("zookeeper").start(serve_zookeeper)
        broker = world.host("broker")
        broker.start(settings.serve)
        producing = world.host("producer").start(producer.run)
        for life in range(1, LIVES):
            world.run_until(partial(has_answered, producer, life * BATCHES // LIVES))
            world.run_for(random.uniform(0, 0.2))
            settings.count()
            crash(broker, random, power=True)
            broker.start(settings.serve)
        world.run_to_end(producing)
        settings.count()
    return producer, settings.cleanings


@pytest.mark.parametrize("seed", range(SEEDS))
def test_no_key_loses_its_last_value(seed: int) -> None:
    producer, cleanings = live(seed)
    sent = [value for values in producer.sent for value in values]
    assert cleanings > 0
    assert len(producer.kept) < len(sent)
    offsets = [it.offset for it in producer.kept]
    assert offsets == sorted(set(offsets))
    assert all(it.value == sent[it.offset] for it in producer.kept)
    last = {key_of(value): value for value in sent}
    assert {it.key: it.value for it in producer.kept} == last
