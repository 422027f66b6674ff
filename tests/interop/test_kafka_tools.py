"""Apache's command line tools say of our broker what they say of Apache's.

The story is told to both brokers, one command after the other; exit codes and all that is printed
must be equal, but for ports, directories, ids that are drawn, and the wording of refusals.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.interop.apache_kafka import run_tool
from tests.interop.kafka_pair import Brokers
from tests.interop.kafka_text import Broker
from tests.interop.kafka_tools import assert_equal, told

VALUES = "".join(f"key{n % 3}:value {n}\n" for n in range(50))


def test_kafka_topics(brokers: Brokers) -> None:
    def topics(*arguments: str) -> list[str]:
        return assert_equal(brokers, "kafka-topics", *arguments)

    topics("--create", "--topic", "t", "--partitions", "3", "--config", "segment.bytes=5000")
    topics("--create", "--topic", "t", "--if-not-exists")
    assert "t" in topics("--list")
    assert any("segment.bytes=5000" in line for line in topics("--describe", "--topic", "t"))
    topics("--alter", "--topic", "t", "--partitions", "4")
    topics("--describe", "--under-replicated-partitions")
    topics("--create", "--topic", "gone", "--replica-assignment", "1,1")
    topics("--delete", "--topic", "gone")
    assert "gone" not in topics("--list")


def test_console_producer_and_consumer(brokers: Brokers) -> None:
    assert_equal(brokers, "kafka-topics", "--create", "--topic", "console", "--partitions", "1")
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        keyed = ("--property", "parse.key=true", "--property", "key.separator=:")
        options = ("--topic", "console", "--compression-codec", codec, *keyed)
        assert_equal(brokers, "kafka-console-producer", *options, given=VALUES)
    place = ("--topic", "console", "--partition", "0", "--offset", "20")
    shown = ("--property", "print.key=true", "--property", "print.offset=true")
    end = ("--max-messages", "230", "--timeout-ms", "20000")
    lines = assert_equal(brokers, "kafka-console-consumer", *place, *shown, *end)
    assert len(lines) == 230


def test_offsets_and_their_deletion(brokers: Brokers, tmp_path: Path) -> None:
    assert_equal(brokers, "kafka-topics", "--create", "--topic", "offsets")
    assert_equal(brokers, "kafka-console-producer", "--topic", "offsets", given=VALUES)
    for time in ("-1", "-2", "1", "latest", "earliest"):
        assert_equal(brokers, "kafka-get-offsets", "--topic", "offsets", "--time", time)
    where = {"topic": "offsets", "partition": 0, "offset": 30}
    file = tmp_path / "delete.json"
    file.write_text(json.dumps({"partitions": [where], "version": 1}))
    deleted = assert_equal(brokers, "kafka-delete-records", "--offset-json-file", str(file))
    assert any("low_watermark: 30" in line for line in deleted)
    assert assert_equal(
        brokers, "kafka-get-offsets", "--topic", "offsets", "--time", "earliest"
    ) == ["offsets:0:30"]


ENTITIES = [
    ("topics", "configured", "retention.ms=5000,cleanup.policy=[compact,delete]", "retention.ms"),
    ("brokers", "1", "log.cleaner.threads=2", "log.cleaner.threads"),
    ("brokers", "", "log.segment.bytes=100000000,max.connections=900", "max.connections"),
    ("clients", "c", "producer_byte_rate=1024,request_percentage=50", "producer_byte_rate"),
    ("users", "u", "consumer_byte_rate=2048", "consumer_byte_rate"),
    ("ips", "127.0.0.9", "connection_creation_rate=10", "connection_creation_rate"),
]


@pytest.mark.parametrize(("kind", "name", "added", "removed"), ENTITIES)
def test_kafka_configs(brokers: Brokers, kind: str, name: str, added: str, removed: str) -> None:
    if kind == "topics":
        assert_equal(brokers, "kafka-topics", "--create", "--topic", name)
    which = ("--entity-name", name) if name else ("--entity-default",)
    entity = ("--entity-type", kind, *which)
    assert_equal(brokers, "kafka-configs", "--alter", *entity, "--add-config", added)
    described = assert_equal(brokers, "kafka-configs", "--describe", *entity)
    assert any(removed in line for line in described)
    assert_equal(brokers, "kafka-configs", "--alter", *entity, "--delete-config", removed)
    assert_equal(brokers, "kafka-configs", "--describe", *entity)


def test_all_configs_of_topics_and_brokers(brokers: Brokers) -> None:
    for kind, name in (("topics", "configured"), ("brokers", "1")):
        entity = ("--entity-type", kind, "--entity-name", name)
        lines = assert_equal(brokers, "kafka-configs", "--describe", "--all", *entity)
        assert len(lines) > 30


def test_reassignments_and_elections(brokers: Brokers, tmp_path: Path) -> None:
    assert_equal(brokers, "kafka-topics", "--create", "--topic", "moved", "--partitions", "2")
    plan = tmp_path / "plan.json"
    moves = [{"topic": "moved", "partition": n, "replicas": [1]} for n in range(2)]
    plan.write_text(json.dumps({"version": 1, "partitions": moves}))
    file = ("--reassignment-json-file", str(plan))
    assert_equal(brokers, "kafka-reassign-partitions", "--list")
    assert_equal(brokers, "kafka-reassign-partitions", *file, "--execute")
    verified = assert_equal(brokers, "kafka-reassign-partitions", *file, "--verify")
    assert any("is completed" in line for line in verified)
    topics = tmp_path / "topics.json"
    topics.write_text(json.dumps({"version": 1, "topics": [{"topic": "moved"}]}))
    wanted = ("--topics-to-move-json-file", str(topics), "--broker-list", "1")
    assert_equal(brokers, "kafka-reassign-partitions", *wanted, "--generate")
    for kind in ("preferred", "unclean"):
        one = ("--topic", "moved", "--partition", "0")
        assert_equal(brokers, "kafka-leader-election", "--election-type", kind, *one)
    assert_equal(
        brokers, "kafka-leader-election", "--election-type", "preferred", "--all-topic-partitions"
    )


def test_the_cluster(brokers: Brokers) -> None:
    lines = assert_equal(brokers, "kafka-log-dirs", "--describe", "--topic-list", "moved")
    assert any("moved-1" in line for line in lines)
    for broker in (brokers.ours, brokers.theirs):
        done = run_tool("kafka-cluster", "cluster-id", "--bootstrap-server", broker.address)
        assert re.fullmatch(r"Cluster ID: [\w-]{22}", done.stdout.strip())
    assert_equal(brokers, "kafka-features", "describe")


def test_api_versions(brokers: Brokers) -> None:
    def listed(broker: Broker) -> dict[str, str]:
        _, lines = told(broker, "kafka-broker-api-versions")
        rows = (line.strip().rstrip(",").partition(": ") for line in lines if "): " in line)
        return {key: versions for key, _, versions in rows}

    ours, theirs = listed(brokers.ours), listed(brokers.theirs)
    assert set(ours) == set(theirs)
    unequal = {key for key in ours if ours[key] != theirs[key]}
    assert all(ours[key] == "UNSUPPORTED" for key in unequal)


def test_dump_log_reads_our_files(brokers: Brokers) -> None:
    """What the tests above have written, in all codecs; indexes, snapshots, checkpoints."""
    for codec in ("none", "zstd"):
        options = ("--topic", "t", "--compression-codec", codec, "--batch-size", "300")
        assert_equal(brokers, "kafka-console-producer", *options, given=VALUES * 20)
    data = brokers.ours.data
    logs = sorted(str(path) for path in data.glob("[ct]*-*/*.log"))
    assert len(logs) > 6
    read = run_tool(
        "kafka-dump-log", "--deep-iteration", "--print-data-log", "--files", ",".join(logs)
    )
    assert read.returncode == 0, read.stderr
    assert read.stdout.count("| offset: ") == read.stdout.count("payload: ") >= 1000
    assert "isvalid: false" not in read.stdout
    indexes = sorted(str(path) for path in data.glob("[ct]*-*/*index"))
    checked = run_tool("kafka-dump-log", "--index-sanity-check", "--files", ",".join(indexes))
    assert checked.returncode == 0, checked.stderr
    assert "passed sanity check" in checked.stdout
    assert "Found timestamp mismatch" not in checked.stdout
    whole = run_tool("kafka-dump-log", "--verify-index-only", "--files", ",".join(indexes))
    assert "mismatch" not in whole.stdout.lower(), whole.stdout


def test_dump_log_reads_our_producer_snapshots(brokers: Brokers) -> None:
    snapshots = [str(path) for path in brokers.ours.data.glob("t-*/*.snapshot")]
    assert snapshots
    read = run_tool("kafka-dump-log", "--files", ",".join(snapshots))
    assert read.returncode == 0, read.stderr
    assert "producerId: " in read.stdout and "lastSequence" in read.stdout
