"""A flush outlives what it was begun for."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.kafka.storage.directories import LogDirectories
from odradek.kafka.storage.files import OpenFiles
from odradek.kafka.storage.names import Purpose
from odradek.runtime.os_disk import OsDisk
from tests.kafka.storage.logs import NOW_MS, SMALL, WHERE, put


@pytest.mark.parametrize("is_final", [False, True])
def test_a_partition_that_is_deleted_under_its_flush_is_no_failed_disk(
    is_final: bool, tmp_path: Path
) -> None:
    directories = LogDirectories(OpenFiles(OsDisk()), lambda _: SMALL, lambda: 0.0)
    directories.open([str(tmp_path)])
    log = directories.create(WHERE, None)
    put(log, b"a", b"b")
    flush = log.begin_flush(is_final=is_final)
    assert flush.has_new_names
    directories.directory_of(log).retire(WHERE, Purpose.DELETE, "0" * 32)
    flush.run()
    directories.close(NOW_MS)
