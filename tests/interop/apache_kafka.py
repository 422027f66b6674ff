"""Apache Kafka 3.9.2: a broker as a process of its own, and the command line tools.

All is fetched by Maven and run by Java. Whoever lacks one of them skips the tests that need it,
and is told which.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.interop.java_clients import SMALL
from tests.interop.maven import HERE, class_path
from tests.kafka.server.running import DEFAULTS
from tests.processes import HOST, ServerProcess, free_port, properties_text
from tests.waiting import wait_until

POM = "kafka-pom.xml"
MAIN = "kafka.Kafka"
START_WITHIN_S = 300
TOOL_WITHIN_S = 120
TOOLS = {
    "kafka-broker-api-versions": "org.apache.kafka.tools.BrokerApiVersionsCommand",
    "kafka-cluster": "org.apache.kafka.tools.ClusterTool",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "kafka-console-producer": "kafka.tools.ConsoleProducer",
    "kafka-consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-delete-records": "org.apache.kafka.tools.DeleteRecordsCommand",
    "kafka-dump-log": "kafka.tools.DumpLogSegments",
    "kafka-features": "org.apache.kafka.tools.FeatureCommand",
    "kafka-get-offsets": "org.apache.kafka.tools.GetOffsetShell",
    "kafka-leader-election": "org.apache.kafka.tools.LeaderElectionCommand",
    "kafka-log-dirs": "org.apache.kafka.tools.LogDirsCommand",
    "kafka-reassign-partitions": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
    "kafka-transactions": "org.apache.kafka.tools.TransactionsCommand",
}


def java(main: str, *arguments: str, level: str, jars: str = "") -> list[str]:
    """The command that runs a class of Apache Kafka's, or of other jars that need its logging."""
    settings = [f"-Dlog4j.configuration=file:{HERE / 'log4j.properties'}"]
    settings += [f"-Dinterop.level={level}", "-Djava.awt.headless=true"]
    return ["java", *SMALL, *settings, "-cp", jars or class_path(POM), main, *arguments]


class ApacheBroker(ServerProcess):
    """One broker of Apache's, and its server.properties."""

    def __init__(self, directory: Path, settings: Mapping[str, object], port: int = 0) -> None:
        super().__init__(directory, [], port or free_port())
        file = directory / "apache.properties"
        given = {"log.dirs": self.data, "listeners": f"PLAINTEXT://{HOST}:{self.port}"}
        file.write_text(properties_text({**DEFAULTS, **given, **settings}))
        # Each thread of its cleaner takes 128 MiB; of two heaps named, the last counts.
        self._command = java("-Xmx1g", MAIN, str(file), level="INFO")

    @property
    def data(self) -> Path:
        return self.directory / "data"

    def start(self) -> None:
        """Start the process, and wait until it says that it has."""
        starts = self._starts() if self._log.exists() else 0
        self.spawn()
        wait_until(lambda: self.is_ready() and self._starts() > starts, START_WITHIN_S)

    def _starts(self) -> int:
        return self.log.count("] started")


@contextmanager
def apache_broker(directory: Path, /, **settings: object) -> Iterator[ApacheBroker]:
    """A broker that runs as long as the block; settings are lines of its server.properties."""
    broker = ApacheBroker(directory, settings)
    try:
        broker.start()
        yield broker
    finally:
        broker.stop()


def run_tool(name: str, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """What one of Apache's tools says, to whoever it speaks, and how it ends."""
    command = java(TOOLS[name], *arguments, level="ERROR")
    return subprocess.run(
        command, input=given, capture_output=True, text=True, timeout=TOOL_WITHIN_S
    )
