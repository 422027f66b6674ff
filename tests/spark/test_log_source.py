"""Segment files as a table inside Spark, with no broker."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.control import Marker, MarkerType, write_marker
from odradek.kafka.wire.records import Record

TIME_MS = 1_800_000_000_000


def numbered(first: int, end: int) -> list[Record]:
    return [
        Record(n, TIME_MS + n, b"k%d" % n, b"v%d" % n, (("h", b"1"),)) for n in range(first, end)
    ]


def fill(folder: Path) -> None:
    """Two segments of a partition, with a transaction, its marker and a torn tail; and another."""
    (folder / "t-0").mkdir()
    (folder / "other-3").mkdir()
    in_transaction = Envelope(
        codec=Codec.ZSTD, producer_id=5, producer_epoch=1, base_sequence=0, is_transactional=True
    )
    marker = write_marker(
        Marker(MarkerType.ABORT, 0), producer_id=5, producer_epoch=1, now_ms=0, base_offset=150
    )
    newest = write_batch(numbered(100, 150), in_transaction) + marker
    torn = write_batch(numbered(151, 160))[:-3]
    (folder / "t-0" / f"{0:020}.log").write_bytes(write_batch(numbered(0, 100)))
    (folder / "t-0" / f"{100:020}.log").write_bytes(newest + torn)
    (folder / "other-3" / f"{0:020}.log").write_bytes(write_batch(numbered(0, 7)))


def test_all_that_is_in_the_files_is_a_row(spark: SparkSession, tmp_path: Path) -> None:
    fill(tmp_path)
    found = spark.read.format("odradek-log").load(str(tmp_path))
    rows = found.where("topic = 't'").orderBy("offset").collect()
    assert [row.offset for row in rows] == list(range(151))
    plain, aborted, marker = rows[3], rows[103], rows[150]
    assert (plain.key, plain.value, plain.partition, plain.producerId) == (b"k3", b"v3", 0, None)
    assert plain.timestamp.timestamp() * 1000 == TIME_MS + 3
    assert [tuple(header) for header in plain.headers] == [("h", b"1")]
    assert (aborted.producerId, aborted.producerEpoch, aborted.sequence) == (5, 1, 3)
    assert (aborted.isTransactional, aborted.isControl, aborted.codec) == (True, False, "zstd")
    assert marker.isControl and marker.producerId == 5 and marker.sequence is None
    assert found.where("topic = 'other'").count() == 7


def test_topics_and_columns_narrow_it_down(spark: SparkSession, tmp_path: Path) -> None:
    fill(tmp_path)
    found = (
        spark.read.format("odradek-log")
        .options(topics="other", columns="offset,value")
        .load(str(tmp_path))
    )
    assert found.columns == ["offset", "value"]
    assert sorted(row.offset for row in found.collect()) == list(range(7))


def test_wrong_options_are_all_named(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(PySparkException) as raised:
        spark.read.format("odradek-log").options(topic="t").load().collect()
    assert "did you mean topics?" in str(raised.value) and "path is missing" in str(raised.value)


@pytest.mark.parametrize("form", ["file://{}", "file:{}", "{}/"])
def test_a_path_may_be_a_uri(spark: SparkSession, tmp_path: Path, form: str) -> None:
    folder = tmp_path / "data of a broker"
    folder.mkdir()
    fill(folder)
    path = form.format(str(folder).replace(" ", "%20") if "file" in form else folder)
    found = spark.read.format("odradek-log").options(topics="t").load(path)
    assert sorted(row.offset for row in found.select("offset").collect()) == list(range(151))


@pytest.mark.parametrize("path", ["/nowhere/at/all", "file:///nowhere/at/all", "nobody://knows"])
def test_a_path_that_cannot_be_read_is_named(spark: SparkSession, path: str) -> None:
    with pytest.raises(PySparkException, match=path.removeprefix("file://")):
        spark.read.format("odradek-log").load(path).collect()
