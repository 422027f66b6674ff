"""Java's clients, 3.9.2 and the newest, at our broker, judged by what they see at Apache's.

Each program under `java/kafka` tells what it was answered.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.interop.apache_kafka import POM, java
from tests.interop.java_clients import RUN_SECONDS, compile_programs
from tests.interop.kafka_pair import Brokers
from tests.interop.kafka_text import Broker, shared
from tests.interop.maven import class_path

PROGRAMS = ["Topics", "Records", "Offsets", "Configs", "Cluster"]
CLIENTS = {"3.9": POM, "4.x": "kafka-clients-4-pom.xml"}


@pytest.fixture(scope="module")
def kafka_classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our programs, compiled for the older clients: the newer run them as they are."""
    directory = tmp_path_factory.mktemp("classes")
    compile_programs(directory, ["kafka"], POM)
    return directory


def told(program: str, version: str, classes: Path, broker: Broker) -> list[str]:
    """What a program says that has come to its end."""
    jars = f"{classes}:{class_path(CLIENTS[version])}"
    command = java(f"kafka.{program}", broker.address, version, level="ERROR", jars=jars)
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return shared(done.stdout, broker)


@pytest.mark.parametrize("version", CLIENTS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_java_client_sees_what_it_sees_at_apache(
    brokers: Brokers, kafka_classes: Path, program: str, version: str
) -> None:
    ours = told(program, version, kafka_classes, brokers.ours)
    assert ours == told(program, version, kafka_classes, brokers.theirs)
