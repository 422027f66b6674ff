"""Small files of an archive put together, while others read it.

1. The rows of some small files are written to one new file beside the others, in no list yet.
2. The list, one file, is replaced: who reads through it (Spark does) sees the old files or the
   new.
3. Old files stay for a while, for those who began to read them; then they go, and with them
   whatever else is in no list: what a killed task or a killed compaction has left.

While it works nobody may write to the archive: `archive` stops its query first.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote
from uuid import uuid4

from odradek.pipelines.hadoop_files import HadoopFiles
from odradek.pipelines.sink_log import (
    FOLDER,
    Bin,
    SinkFile,
    entry_of,
    newest_log,
    parse_log,
    plan_bins,
    render_log,
    replaced,
)
from odradek.runtime.clock import wall_clock_ms
from odradek.runtime.errors import OdradekError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORK, RETIRED = "_compacting", "_retired"
DATA = ".parquet"


class CompactionFailed(OdradekError):
    """Rows would have been lost or doubled; the archive is as it was."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """How many files there were and are, and how many were removed in the end."""

    files_before: int
    files_after: int
    removed: int


def compact(
    spark: SparkSession,
    path: str,
    *,
    bytes_wanted: int = 128 * 1024 * 1024,
    files_min: int = 4,
    grace_s: float = 600,
) -> Compacted:
    """Put the small files of an archive in Parquet together.

    bytes_wanted  about how large a file should be
    files_min     fewer small files than this, in one folder, are left alone
    grace_s       how long replaced files stay for those who are reading them
    """
    files = HadoopFiles(spark, path)
    log = f"{files.root}/{FOLDER}/{newest_log(files.names(f'{files.root}/{FOLDER}'))}"
    listed = parse_log(files.read_text(log))
    files.remove(f"{files.root}/{WORK}")
    bins = plan_bins(listed, bytes_wanted, files_min)
    if bins:
        gone = [file for one in bins for file in one.files]
        come = [_put_together(spark, files, one) for one in bins]
        _retire(files, gone)
        kept = replaced(listed, gone, come)
        files.write_text(log, render_log(kept))
        files.remove(f"{files.root}/{WORK}")
    else:
        kept = listed
    return Compacted(len(listed), len(kept), _sweep(files, kept, grace_s))


def _put_together(spark: SparkSession, files: HadoopFiles, one: Bin) -> SinkFile:
    """Write the rows of some files to one, in the order of the log."""
    work = f"{files.root}/{WORK}/{uuid4().hex}"
    rows = spark.read.parquet(*(unquote(file.path) for file in one.files))
    made = unquote(work)  # Spark's readers and writers take paths, and its log has URIs.
    rows.coalesce(1).sortWithinPartitions("partition", "offset").write.parquet(made)
    count, expected = spark.read.parquet(made).count(), rows.count()
    if count != expected:
        raise CompactionFailed(f"{one.folder}: {expected} rows became {count}")
    (written,) = [name for name in files.names(work) if name.endswith(DATA)]
    target = f"{one.folder}/compacted-{uuid4().hex}{DATA}"
    files.rename(f"{work}/{written}", target)
    stat = files.stat(target)
    return entry_of(stat.path, stat.size, stat.modified_ms, stat.block_bytes)


def _retire(files: HadoopFiles, gone: list[SinkFile]) -> None:
    now_ms = wall_clock_ms()
    said = json.dumps({"at_ms": now_ms, "files": [file.path for file in gone]})
    files.write_text(f"{files.root}/{RETIRED}/{now_ms}-{uuid4().hex[:8]}.json", said)


def _sweep(files: HadoopFiles, listed: list[SinkFile], grace_s: float) -> int:
    """Remove what has been in no list for a while; return how many files that were."""
    latest_ms = wall_clock_ms() - int(grace_s * 1000)
    retired_ms: dict[str, int] = {}
    notes: dict[str, int] = {}
    for name in files.names(f"{files.root}/{RETIRED}"):
        note = f"{files.root}/{RETIRED}/{name}"
        said = json.loads(files.read_text(note))
        notes[note] = said["at_ms"]
        retired_ms |= dict.fromkeys(said["files"], said["at_ms"])
    count, counting = 0, {file.path for file in listed}
    for stat in list(files.walk(files.root)):
        if not stat.path.endswith(DATA) or stat.path in counting or "/_" in stat.path:
            continue
        if retired_ms.get(stat.path, stat.modified_ms) <= latest_ms:
            files.remove(stat.path)
            count += 1
    for note, at_ms in notes.items():
        if at_ms <= latest_ms:
            files.remove(note)
    return count
