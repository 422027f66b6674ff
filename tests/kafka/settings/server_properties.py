"""Files to read settings from, and the tables that were read from Apache Kafka itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.kafka.settings import BrokerSettings
from odradek.runtime.properties import Properties
from odradek.runtime.settings import SettingsRefused

DATA = Path(__file__).parent / "data"

SAMPLE = """\
# The file that everybody starts from.
broker.id=0
#listeners=PLAINTEXT://:9092
#advertised.listeners=PLAINTEXT://your.host.name:9092
num.network.threads=3
num.io.threads=8
socket.send.buffer.bytes=102400
socket.receive.buffer.bytes=102400
socket.request.max.bytes=104857600
log.dirs=/tmp/kafka-logs
num.partitions=1
num.recovery.threads.per.data.dir=1
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
#log.flush.interval.messages=10000
#log.flush.interval.ms=1000
log.retention.hours=168
#log.retention.bytes=1073741824
#log.segment.bytes=1073741824
log.retention.check.interval.ms=300000
zookeeper.connect=localhost:2181
zookeeper.connection.timeout.ms=18000
group.initial.rebalance.delay.ms=0
"""


def read(text: str = "") -> BrokerSettings:
    return BrokerSettings(Properties.parse(text.encode(), "server.properties"))


def refused(text: str) -> list[str]:
    with pytest.raises(SettingsRefused) as caught:
        read(text)
    return [str(problem) for problem in caught.value.problems]


def table(file: str, section: str = "") -> list[list[str]]:
    """The rows of a data file, or of that part of it whose heading begins so."""
    rows: list[list[str]] = []
    is_inside = not section
    for line in (DATA / file).read_text().splitlines():
        if line.startswith("## "):
            is_inside = line.startswith(f"## {section}")
        elif line and not line.startswith("#") and is_inside:
            rows.append([cell.strip() for cell in f"{line} ".split(" | ")])
    return rows
