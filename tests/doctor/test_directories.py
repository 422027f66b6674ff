"""The directories of real servers, as they are and spoilt by hand."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from odradek.doctor import Finding, Level, examine, is_well
from odradek.kafka.wire.records import Record
from tests.kafka.client.brokers import topics_of
from tests.kafka.server.running import running_broker

TOPIC = "looked-at"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What a broker with a ZooKeeper inside leaves behind: `data` and `data-zookeeper`."""
    directory = tmp_path_factory.mktemp("server")
    with (
        running_broker(directory, **{"log.segment.bytes": 2000}) as broker,
        topics_of(broker.address) as topics,
    ):
        name = topics.create(name=TOPIC)
        for first in range(0, 400, 100):
            records = [Record(n, 0, None, b"x" * 10) for n in range(first, first + 100)]
            topics.append(name, 0, records)
        running = list(examine(str(broker.data)))
        assert any("a server is running" in finding.text for finding in running)
        assert is_well(running)
    yield directory


@pytest.fixture
def data(server: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(server / "data", tmp_path / "data"))


@pytest.fixture
def zookeeper(server: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(server / "data-zookeeper", tmp_path / "zookeeper"))


def segments(data: Path) -> list[Path]:
    return sorted(data.glob(f"{TOPIC}-*/*.log"))


def wrongs(path: Path, *, is_quick: bool = False) -> list[Finding]:
    return [f for f in examine(str(path), is_quick=is_quick) if f.level is Level.WRONG]


def texts(path: Path) -> str:
    return "\n".join(finding.text for finding in examine(str(path)))


def test_the_directory_of_a_broker_that_was_stopped_is_well(data: Path) -> None:
    assert wrongs(data) == []
    assert "belongs to broker 1" in texts(data) and "stopped cleanly" in texts(data)
    assert len(segments(data)) > 2


def test_a_flipped_bit_in_an_old_segment_is_found_where_it_is(data: Path) -> None:
    victim = segments(data)[0]
    spoilt = bytearray(victim.read_bytes())
    spoilt[100] ^= 1
    victim.write_bytes(spoilt)
    (found,) = wrongs(data)
    assert found.subject == str(victim) and "damaged" in found.text
    assert wrongs(data, is_quick=True) == [], "it was not asked for"


def test_a_torn_tail_is_what_a_crash_leaves_and_lost_records_are_not(data: Path) -> None:
    newest = segments(data)[-1]
    whole = newest.read_bytes()
    newest.write_bytes(whole + b"torn")
    assert wrongs(data) == [] and "a torn tail of 4 bytes" in texts(data)
    newest.write_bytes(b"")
    assert all("records were lost" in found.text for found in wrongs(data)) and wrongs(data)


def test_small_files_that_no_crash_leaves_are_wrong(data: Path) -> None:
    (data / "replication-offset-checkpoint").write_text("0\n5\nonly one line\n")
    (data / "meta.properties").write_text("version=7\n")
    assert len(wrongs(data)) == 2


def test_what_is_no_partition_and_what_is_gone_are_told(data: Path) -> None:
    (data / "notes").mkdir()
    for segment in segments(data):
        segment.unlink()
    assert "is no partition's" in texts(data)
    assert any("all its records are gone" in found.text for found in wrongs(data))


def test_the_directory_of_a_zookeeper_is_well(zookeeper: Path) -> None:
    assert wrongs(zookeeper) == []
    assert "transactions in" in texts(zookeeper) and "znodes up to" in texts(zookeeper)


def test_a_damaged_snapshot_and_a_damaged_log_are_found(zookeeper: Path) -> None:
    (log,) = (zookeeper / "version-2").glob("log.*")
    spoilt = bytearray(log.read_bytes())
    spoilt[60] ^= 1
    log.write_bytes(spoilt)
    *_, snapshot = sorted((zookeeper / "version-2").glob("snapshot.*"))
    snapshot.write_bytes(snapshot.read_bytes()[:-5])
    found = "\n".join(finding.text for finding in wrongs(zookeeper))
    assert "cannot be used" in found and "may have been promised" in found


def test_epochs_that_contradict_the_log_are_wrong(zookeeper: Path) -> None:
    (zookeeper / "version-2" / "acceptedEpoch").write_text("1")
    (zookeeper / "version-2" / "currentEpoch").write_text("2")
    (found,) = wrongs(zookeeper)
    assert "before the current one" in found.text
    (zookeeper / "version-2" / "currentEpoch").write_text("many")
    assert "is not a number" in wrongs(zookeeper)[0].text
