"""One broker that dies between any two writes, of groups' and of transactions' records.

The same short life is lived once for each boundary. What was acknowledged must be there
afterwards, what was not must have happened whole or not at all, and all goes on to its end.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

import pytest

from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from tests.kafka.server.boundaries import CountedDevice, counted
from tests.kafka.server.conversing import Client
from tests.kafka.server.copy_book import CopyBook
from tests.kafka.server.copying import SOURCE, TARGET, Copier, Temper
from tests.kafka.server.ensembled import FLUSHED, SimulatedBrokers
from tests.kafka.server.group_book import GroupBook
from tests.kafka.server.grouped import Member
from tests.kafka.server.reading import CommittedReader
from tests.kafka.server.sending import Sender

SEEDS = int(os.environ.get("SEEDS", "1"))
STRIDE = max(1, 80 // SEEDS)  # Every boundary, if there are many seeds.
TEMPER = Temper(abort=0.3, hang=0.0, forget=0.1)
BATCHES = 8
LIMIT_S = 120
AGAIN = 60  # Writes after the first death comes another.
Life = Callable[[tuple[int, ...], bool], CountedDevice]


def copy(at: tuple[int, ...], power: bool) -> CountedDevice:
    """A life in which a topic is copied in transactions, some of them aborted."""
    with World(seed=7) as world:
        cluster = SimulatedBrokers(
            world, brokers=1, zookeepers=1, settings=FLUSHED if power else ""
        )
        device = counted(cluster.host(1), power=power)
        sender = Sender(cluster.ids, SOURCE, 1, BATCHES, 0.01)
        book = CopyBook(sender.sent)
        copier = Copier(cluster.ids, book, "copier", TEMPER)
        reader = CommittedReader(cluster.ids, TARGET, 0, partial(book.check_copies, 0))
        tags = CommittedReader(cluster.ids, TARGET, 1, lambda values: None)

        async def make(environment: Environment) -> None:
            await Client(cluster.ids).create_topic(TARGET, 2)
            await sender.run(environment)

        world.run_to_end(world.host("sender").start(make), LIMIT_S)
        device.begin(*at)
        world.host("copier").start(copier.run)
        world.host("reader").start(reader.run)
        world.run_until(lambda: reader.seen == sender.sent[0], LIMIT_S)
        world.host("copier").kill()
        world.host("tags").start(tags.run)
        world.run_until(lambda: is_stable(cluster) and len(tags.seen) >= len(book.tags), LIMIT_S)
        world.run_for(1)
        book.check_tags(tags.seen)
    return device


def is_stable(cluster: SimulatedBrokers) -> bool:
    """Whether it runs, and no transaction is open in it."""
    logs = [it.log for node in cluster.running().values() for it in node.broker.partitions.all()]
    return bool(logs) and all(it.last_stable_offset == it.end_offset for it in logs)


def gather(at: tuple[int, ...], power: bool) -> CountedDevice:
    """A life in which two members read a topic and commit."""
    with World(seed=8) as world:
        cluster = SimulatedBrokers(
            world, brokers=1, zookeepers=1, settings=FLUSHED if power else ""
        )
        device = counted(cluster.host(1), power=power)
        sender, book = Sender(cluster.ids, "t", 2, BATCHES, 0.2), GroupBook()
        members = [Member(cluster.ids, book, "t", 2, instance=instance) for instance in (None, "i")]
        world.run_to_end(world.host("maker").start(partial(make_topic, cluster)), LIMIT_S)
        device.begin(*at)
        sending = world.host("sender").start(sender.run)
        for number, member in enumerate(members):
            world.host(f"m{number}").start(member.run)
        world.run_to_end(sending, LIMIT_S)
        ends = {number: len(sent) for number, sent in enumerate(sender.sent) if sent}
        world.run_until(lambda: book.committed == ends, LIMIT_S)
        assert [book.read[it] for it in ends] == [sender.sent[it] for it in ends]
    return device


async def make_topic(cluster: SimulatedBrokers, environment: Environment) -> None:
    await Client(cluster.ids).create_topic("t", 2)


@pytest.mark.parametrize("power", [False, True], ids=["killed", "without power"])
@pytest.mark.parametrize("live", [copy, gather])
def test_a_broker_may_die_between_any_two_writes(live: Life, power: bool) -> None:
    boundaries = live((), power).count
    assert boundaries > 20
    for at in range(1, boundaries + 1, STRIDE):
        assert live((at, at + AGAIN), power).deaths >= 1
