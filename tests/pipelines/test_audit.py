"""Audits of a real broker's topics and files, some of them spoilt by hand."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.group_offsets import commit_offsets
from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.records import Record
from odradek.pipelines import audit
from odradek.pipelines.audit import AuditRefused
from tests.kafka.client.topics import Topics
from tests.pipelines.test_mirror import NOW_MS, records


def batch(first: int, count: int, sequence: int = -1) -> bytes:
    """A batch as it stands in a log."""
    made = [Record(n, 1_000_000 + n, b"k", b"%d" % n) for n in range(first, first + count)]
    envelope = Envelope(
        producer_id=-1 if sequence < 0 else 7,
        producer_epoch=-1 if sequence < 0 else 0,
        base_sequence=sequence,
    )
    return bytes(write_batch(made, envelope))


def log_of(folder: Path, topic: str, *batches: bytes) -> None:
    directory = folder / f"{topic}-0"
    directory.mkdir(parents=True)
    (directory / f"{0:020d}.log").write_bytes(b"".join(batches))


def test_a_sound_topic_has_no_problems_and_groups_have_their_lag(
    spark: SparkSession, topics: Topics
) -> None:
    topic = topics.create(partitions=2, name="sound")
    topics.append(topic, 0, records(0, 30))
    topics.append(topic, 1, records(30, 40))
    group = f"readers-of-{topic}"
    commit_offsets(topics.cluster, group, {TopicPartition(topic, 0): 12})
    found = audit(topics.bootstrap_servers, [topic], spark=spark, groups=[group], identity="value")
    assert found.problems == [] and found.records == 40
    assert [(one.first, one.last) for one in found.partitions] == [(0, 29), (0, 9)]
    assert [(one.group, one.lag) for one in found.lags] == [(group, 18)]
    assert sum(one.records for one in found.timeline) == 40


def test_duplicates_and_missing_numbers_are_found_by_the_users_own_columns(
    spark: SparkSession, topics: Topics
) -> None:
    topic = topics.create(name="spoilt")
    numbers = [1, 2, 3, 3, 6, 5]
    topics.append(topic, 0, [Record(0, NOW_MS, b"k", b"%d" % number) for number in numbers])
    column = "cast(cast(value as string) as int)"
    found = audit(topics.bootstrap_servers, [topic], spark=spark, identity=column, sequence=column)
    assert (found.repeated_count, found.missing_count, found.back_count) == (1, 2, 2)
    assert [(one.identity, one.offsets) for one in found.repeated] == [("3", ["0:2", "0:3"])]
    assert [(one.before, one.after) for one in found.jumps] == [(3, 3), (3, 6), (6, 5)]
    assert len(found.problems) == 3


def test_files_tell_losses_from_what_the_cleaner_took(spark: SparkSession, tmp_path: Path) -> None:
    log_of(tmp_path, "lossy", batch(0, 10), batch(15, 5))
    log_of(tmp_path, "clean", batch(0, 10), batch(15, 5))
    (tmp_path / "cleaner-offset-checkpoint").write_text("0\n1\nclean 0 20\n")
    found = audit(log_dir=str(tmp_path), spark=spark)
    assert {(gap.topic, gap.first, gap.last, gap.kind) for gap in found.gaps} == {
        ("lossy", 10, 14, "lost"),
        ("clean", 10, 14, "cleaned"),
    }
    assert len(found.problems) == 1 and found.problems[0].startswith("lossy-0: 5 offsets are lost")


def test_files_tell_what_producers_wrote_twice_or_not_at_all(
    spark: SparkSession, tmp_path: Path
) -> None:
    log_of(tmp_path, "twice", batch(0, 5, 0), batch(5, 5, 5), batch(10, 5, 5))
    log_of(tmp_path, "never", batch(0, 5, 0), batch(5, 5, 8))
    log_of(tmp_path, "round", batch(0, 3, 2**31 - 2), batch(3, 2, 1))
    found = {one.topic: one for one in audit(log_dir=str(tmp_path), spark=spark).partitions}
    assert (found["twice"].producer_duplicates, found["twice"].producer_missing) == (5, 0)
    assert (found["never"].producer_duplicates, found["never"].producer_missing) == (0, 3)
    assert (found["round"].producer_missing, found["round"].producer_disorder) == (0, 0)


def test_markers_of_transactions_are_no_gaps_in_files(
    spark: SparkSession,
    topics: Topics,
    elsewhere: Topics,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    from odradek.pipelines import mirror

    topic = topics.create(name="marked")
    topics.append(topic, 0, records(0, 10))
    mirror(topics.bootstrap_servers, elsewhere.bootstrap_servers, [topic], spark=spark)
    topics.append(topic, 0, records(10, 20))
    mirror(topics.bootstrap_servers, elsewhere.bootstrap_servers, [topic], spark=spark)
    (over_wire,) = audit(elsewhere.bootstrap_servers, [topic], spark=spark).partitions
    assert (over_wire.records, over_wire.missing) == (20, 1)
    found_there = tmp_path_factory.getbasetemp().glob(f"elsewhere*/data/{topic}-0")
    (data,) = {path.resolve() for path in found_there}
    shutil.copytree(data, tmp_path / "copy" / data.name)
    found = audit(log_dir=str(tmp_path / "copy"), spark=spark)
    assert found.problems == []
    assert (found.partitions[0].records, found.partitions[0].markers) == (20, 2)


def test_an_audit_must_know_what_to_look_at() -> None:
    with pytest.raises(AuditRefused, match="either"):
        audit()
    with pytest.raises(AuditRefused, match="which topics"):
        audit("localhost:1")
