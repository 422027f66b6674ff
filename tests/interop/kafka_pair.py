"""Two brokers that are told the same: ours, and Apache's as the judge.

Both are new, have equal settings, and keep their znodes in one ZooKeeper of ours, each under a
chroot of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.interop.apache_kafka import POM, ApacheBroker, apache_broker
from tests.interop.maven import class_path
from tests.kafka.server.running import RunningBroker, running_broker
from tests.zookeeper.server.running import running_server

# Clients send records with old times, which neither may delete while the other is asked.
LASTING = {"log.retention.ms": -1, "log.retention.check.interval.ms": 3_600_000}


@dataclass(frozen=True, slots=True)
class Brokers:
    """Both of them."""

    ours: RunningBroker
    theirs: ApacheBroker


@contextmanager
def both_brokers(directory: Path, /, **settings: object) -> Iterator[Brokers]:
    """Both of them, as long as the block."""
    class_path(POM)  # Nothing is started where Apache's cannot be had.
    with ExitStack() as stack:
        zookeeper = stack.enter_context(running_server(directory / "zookeeper", maxClientCnxns=0))

        def settings_of(name: str) -> dict[str, object]:
            connect_string = f"{zookeeper.connect_string}/{name}"
            return {"zookeeper.connect": connect_string, **LASTING, **settings}

        theirs = apache_broker(directory / "theirs", **settings_of("theirs"))
        ours = running_broker(directory / "ours", **settings_of("ours"))
        yield Brokers(theirs=stack.enter_context(theirs), ours=stack.enter_context(ours))
