"""The same appends leave the same bytes that Apache Kafka 3.9.2 left."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.kafka.storage import checkpoints
from odradek.kafka.storage.aborted import AbortedTransaction, read_aborted
from odradek.kafka.storage.checkpoints import Meta
from odradek.kafka.storage.epochs import EpochStart, LeaderEpochs
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.storage.producers import KeptBatch, Producer
from odradek.kafka.storage.settings import DEFAULTS
from odradek.kafka.storage.snapshots import decode, encode
from odradek.kafka.storage.validate import Origin
from odradek.kafka.wire.batch import Batch, read_batches
from tests.kafka.storage.disks import MortalDisk, get_file, new_disk, put_file
from tests.kafka.storage.logs import DIRECTORY, NOW_MS, get, new_log, put_batch
from tests.kafka.wire.golden import golden_files
from tests.kafka.wire.golden_records import LIBRDKAFKA, LOGS, TRANSACTIONS

GOLDEN = golden_files(Path(__file__).parent / "data" / "golden-files.txt")
BASE = "00000000000000000000"


def as_sent(batch: Batch) -> bytes:
    """The batch as it came from its producer: at offset 0, of no epoch."""
    data = bytearray(batch.data)
    Batch(memoryview(data)).stamp(0, -1)
    return bytes(data)


def appended(disk: MortalDisk, data: bytes) -> Log:
    log = new_log(disk, DEFAULTS)
    for batch in read_batches(memoryview(data)):
        put_batch(log, as_sent(batch), origin=Origin.COORDINATOR)
    return log


@pytest.mark.parametrize("name", LOGS)
def test_a_log_has_the_same_bytes(name: str) -> None:
    disk = new_disk()
    appended(disk, LOGS[name])
    assert get_file(disk, f"{DIRECTORY}/{BASE}.log") == LOGS[name]


def test_transactions_leave_the_same_indexes_and_snapshot() -> None:
    disk = new_disk()
    appended(disk, TRANSACTIONS).close(NOW_MS)
    for name in (f"{BASE}.txnindex", f"{BASE}.timeindex", "00000000000000000004.snapshot"):
        assert get_file(disk, f"{DIRECTORY}/{name}") == GOLDEN[f"kafka t2-0/{name}"]
    assert get_file(disk, f"{DIRECTORY}/{BASE}.index") == b""


def test_idempotent_producers_leave_the_same_snapshot() -> None:
    disk = new_disk()
    log = new_log(disk, DEFAULTS)
    for batch in read_batches(memoryview(LIBRDKAFKA)):
        put_batch(log, as_sent(batch))
    log.close(NOW_MS)
    name = "00000000000000000080.snapshot"
    assert get_file(disk, f"{DIRECTORY}/{name}") == GOLDEN[f"kafka t2-1/{name}"]


def test_a_log_of_apache_is_opened_and_gives_back_its_bytes() -> None:
    disk = new_disk()
    disk.make_directories(DIRECTORY)
    put_file(disk, f"{DIRECTORY}/{BASE}.log", TRANSACTIONS)
    for name in (f"{BASE}.txnindex", f"{BASE}.timeindex", "00000000000000000004.snapshot"):
        put_file(disk, f"{DIRECTORY}/{name}", GOLDEN[f"kafka t2-0/{name}"])
    log = new_log(disk, DEFAULTS)
    assert get(log, 0).data == TRANSACTIONS
    assert log.producers.known[0].last_sequence == 1


def test_an_active_segment_has_indexes_of_full_length() -> None:
    disk = new_disk()
    appended(disk, TRANSACTIONS)
    assert len(get_file(disk, f"{DIRECTORY}/{BASE}.index")) == 10_485_760
    assert len(get_file(disk, f"{DIRECTORY}/{BASE}.timeindex")) == 10_485_756


def test_a_transaction_index_is_read() -> None:
    entries = read_aborted(GOLDEN[f"kafka t2-0/{BASE}.txnindex"])
    assert entries == [AbortedTransaction(0, first_offset=2, last_offset=3, last_stable_offset=4)]
    assert entries[0].encode() == GOLDEN[f"kafka t2-0/{BASE}.txnindex"]


def test_a_producer_snapshot_is_read_and_written() -> None:
    data = GOLDEN["kafka t2-0/00000000000000000004.snapshot"]
    producers = decode(data, 4, "")
    timestamp = 0x1A1DDFBCDE3
    kept = KeptBatch(last_sequence=1, last_offset=2, offset_delta=0, timestamp=timestamp)
    assert producers.known == {0: Producer(0, 0, timestamp, coordinator_epoch=0, batches=[kept])}
    assert encode(producers) == data


def test_the_checkpoints_are_read_and_written() -> None:
    disk = new_disk()
    path, golden = "/data/points", GOLDEN["kafka recovery-point-offset-checkpoint"]
    put_file(disk, path, golden)
    offsets = checkpoints.read_offsets(disk, path)
    assert offsets == {
        TopicPartition("__consumer_offsets", 1): 0,
        TopicPartition("__transaction_state", 1): 10,
        TopicPartition("t2", 0): 4,
    }
    checkpoints.write_offsets(disk, path, offsets)
    assert get_file(disk, path) == golden


def test_leader_epochs_are_read_and_written() -> None:
    disk = new_disk()
    put_file(disk, "/data/leader-epoch-checkpoint", GOLDEN["kafka leader-epoch-checkpoint"])
    assert LeaderEpochs.load(disk, "/data").starts == (EpochStart(0, 0),)
    appended(disk, TRANSACTIONS)
    written = get_file(disk, f"{DIRECTORY}/leader-epoch-checkpoint")
    assert written == GOLDEN["kafka leader-epoch-checkpoint"]


def test_whose_directory_it_is_can_be_read() -> None:
    disk = new_disk()
    put_file(disk, "/data/meta.properties", GOLDEN["kafka meta.properties"])
    assert checkpoints.read_meta(disk, "/data") == Meta(7, "crM9bSj6S7C5gioPTUvu_g")


def test_which_topic_it_is_can_be_read_and_written() -> None:
    disk = new_disk()
    put_file(disk, "/data/partition.metadata", GOLDEN["kafka partition.metadata"])
    topic_id = checkpoints.read_topic_id(disk, "/data")
    assert topic_id == "gw6UraX3R1SdjGyumuqWFw"
    checkpoints.write_topic_id(disk, "/data", topic_id)
    assert get_file(disk, "/data/partition.metadata") == GOLDEN["kafka partition.metadata"]


def test_a_clean_stop_says_the_same() -> None:
    disk = new_disk()
    checkpoints.write_clean_shutdown(disk, "/data")
    assert get_file(disk, "/data/.kafka_cleanshutdown") == GOLDEN["kafka .kafka_cleanshutdown"]
