"""Batches on their way to a real log, by whoever may write them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from odradek.runtime.logs import NodeLog
from odradek.runtime.os_disk import OsDisk
from odradek.runtime.os_file import OsFile
from odradek.runtime.tasks import Tasks
from odradek.zookeeper.server.log_writer import LogWriter
from odradek.zookeeper.server.pace import Pace
from odradek.zookeeper.storage.txnlog import TxnLog
from tests.zookeeper.storage.logs import batch_of, entry_of, zxids_in

COUNT = 20


def write_log(directory: Path) -> None:
    """Write batches of two entries, one after the other."""

    async def main() -> None:
        log, note = TxnLog(OsDisk(), str(directory)), NodeLog("writer")
        writer = LogWriter(log, Tasks(note), note)
        for zxid in range(1, COUNT, 2):
            done = asyncio.Event()
            batch = batch_of((it, entry_of(it)) for it in (zxid, zxid + 1))
            writer.write(batch, done.set)
            await asyncio.wait_for(done.wait(), 20)
        log.close()

    asyncio.run(main())


@pytest.mark.parametrize("is_quick", [True, False])
@pytest.mark.parametrize("has_ring", [True, False])
def test_a_log_is_whole_whoever_writes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_quick: bool, has_ring: bool
) -> None:
    asides, begin = [], OsFile.write_aside

    def noted(file: OsFile, *rest: object) -> bool:
        asides.append(has_ring and begin(file, *rest))  # type: ignore[arg-type]
        return asides[-1]

    monkeypatch.setattr(Pace, "is_quick", is_quick)
    monkeypatch.setattr(OsFile, "write_aside", noted)
    write_log(tmp_path)
    assert zxids_in(OsDisk(), str(tmp_path)) == list(range(1, COUNT + 1))
    assert bool(asides) is not is_quick
