"""Batches on their way to a real log: small ones as is quickest, large ones by the kernel."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from odradek.runtime.logs import NodeLog
from odradek.runtime.os_disk import OsDisk
from odradek.runtime.os_file import OsFile
from odradek.runtime.tasks import Tasks
from odradek.zookeeper.server.log_writer import LARGE_BYTES, LogWriter
from odradek.zookeeper.storage.txnlog import TxnLog
from tests.zookeeper.storage.logs import batch_of, entry_of, zxids_in

LARGE = bytes(LARGE_BYTES)


def write_all(directory: Path, contents: list[bytes]) -> int:
    """Write batches of one entry, one after the other; how many went aside."""

    async def main() -> int:
        log = TxnLog(OsDisk(), str(directory))
        note = NodeLog("writer")
        writer, asides = LogWriter(log, Tasks(note), note), 0
        for zxid, content in enumerate(contents, 1):
            done = asyncio.Event()
            asides += writer.is_worth_going_on(batch := batch_of([(zxid, entry_of(zxid, content))]))
            writer.write(batch, done.set)
            await asyncio.wait_for(done.wait(), 20)
        log.close()
        return asides

    return asyncio.run(main())


def test_what_goes_aside_and_what_does_not_are_one_log(tmp_path: Path) -> None:
    contents = [b"", LARGE, b"small", LARGE, LARGE, b"", b"end"]
    assert write_all(tmp_path, contents) >= 1
    assert zxids_in(OsDisk(), str(tmp_path)) == list(range(1, 8))


def test_where_the_kernel_does_nothing_by_itself_it_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OsFile, "write_aside", lambda *_: False)
    assert write_all(tmp_path, [b"", LARGE, LARGE, LARGE]) == 1
    assert zxids_in(OsDisk(), str(tmp_path)) == [1, 2, 3, 4]
