"""Our programs for Java's Kafka clients, under `java/kafka`: each tells what it was answered."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.interop.apache_kafka import POM, java
from tests.interop.kafka_text import Broker, shared
from tests.interop.maven import class_path

CLIENTS = {"3.9": POM, "4.x": "kafka-clients-4-pom.xml"}
RUN_WITHIN_S = 240


def told(program: str, version: str, classes: Path, broker: Broker) -> list[str]:
    """What a program says that has come to its end."""
    jars = f"{classes}:{class_path(CLIENTS[version])}"
    command = java(f"kafka.{program}", broker.address, version, level="ERROR", jars=jars)
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_WITHIN_S)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return shared(done.stdout, broker)
