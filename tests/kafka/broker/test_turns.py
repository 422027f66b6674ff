"""Checkpoints are written in other threads; a log that is cut meanwhile must have the last word."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from functools import partial

from odradek.kafka.broker.upkeep import Upkeep
from odradek.kafka.settings import BrokerSettings
from odradek.kafka.storage.appending import append
from odradek.kafka.storage.checkpoints import RECOVERY_POINTS, read_offsets
from odradek.kafka.storage.directories import LogDirectories
from odradek.kafka.storage.files import OpenFiles
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.storage.settings import LogSettings
from odradek.runtime.clock import wall_clock_ms
from odradek.runtime.logs import NodeLog
from odradek.runtime.properties import Properties
from odradek.simulation.processes import Environment
from odradek.simulation.world import run
from tests.kafka.storage.logs import batch_of

WHERE = TopicPartition("t", 0)
CUT_AT = 3
SEEDS = 20


async def cut_while_writing(environment: Environment, *, in_turn: bool) -> int:
    """Cut a log while its directory's recovery points are being written; what they say then."""
    disk, random = environment.disk, environment.random
    directories = LogDirectories(OpenFiles(disk), lambda topic: LogSettings(), random.random)
    directories.open(["/kafka"])
    (directory,) = directories.online
    log = directories.create(WHERE, None)
    for number in range(10):
        append(log, batch_of([b"%d" % number]), 0, wall_clock_ms())
    log.flush(wall_clock_ms())
    assert log.recovery_point == 10
    settings = BrokerSettings(Properties.of({"zookeeper.connect": "z:1"}, "server.properties"))
    upkeep = Upkeep(
        directories, lambda: settings, lambda directory, error: None, wall_clock_ms, NodeLog("b")
    )

    async def cut() -> None:
        await asyncio.sleep(random.uniform(0, 0.0002))
        async with upkeep.turn_of(directory) if in_turn else nullcontext():
            directory.truncate({WHERE: CUT_AT})

    await asyncio.gather(upkeep.write_recovery_points(), cut())
    return read_offsets(disk, f"{directory.path}/{RECOVERY_POINTS}")[WHERE]


def test_a_recovery_point_is_never_beyond_where_a_log_was_cut() -> None:
    found = {run(partial(cut_while_writing, in_turn=True), seed) for seed in range(SEEDS)}
    assert found == {CUT_AT}


def test_out_of_turn_an_older_one_may_come_last() -> None:
    found = {run(partial(cut_while_writing, in_turn=False), seed) for seed in range(SEEDS)}
    assert 10 in found
