"""A broker of ours, in a process of its own, with the ZooKeeper inside it unless one is named.

with running_broker(tmp_path, **{"log.segment.bytes": 1000}) as broker:
    producer = KafkaProducer(bootstrap_servers=broker.address)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

from tests.processes import HOST, ServerProcess, free_port, properties_text

DEFAULTS: dict[str, object] = {
    "broker.id": 1,
    "offsets.topic.replication.factor": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "group.initial.rebalance.delay.ms": 0,
    "log.initial.task.delay.ms": 100,
    "log.retention.ms": -1,  # Records of tests are often of 1970.
}


class RunningBroker(ServerProcess):
    """One broker, and its server.properties."""

    def __init__(self, directory: Path, settings: Mapping[str, object]) -> None:
        self.http_port = free_port()
        file = directory / "server.properties"
        command = ["broker", str(file), "--http", str(self.http_port)]
        super().__init__(directory, command, free_port())
        given = {"log.dirs": self.data, "listeners": f"PLAINTEXT://{HOST}:{self.port}"}
        file.write_text(properties_text({**DEFAULTS, **given, **settings}))

    def is_ready(self) -> bool:
        """Whether it is well, by its own account."""
        if not super().is_ready():
            return False
        with suppress(OSError), urlopen(f"http://{HOST}:{self.http_port}/health") as answer:
            return bool(answer.status == 200)
        return False

    @property
    def data(self) -> Path:
        return self.directory / "data"


@contextmanager
def running_broker(directory: Path, /, **settings: object) -> Iterator[RunningBroker]:
    """A broker that runs as long as the block; settings are lines of its server.properties."""
    broker = RunningBroker(directory, settings)
    try:
        broker.start()
        yield broker
    finally:
        broker.stop()
