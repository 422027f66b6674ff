"""Java's clients, 3.9.2 and the newest, at our broker, judged by what they see at Apache's.

Each program under `java/kafka` tells what it was answered.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interop.kafka_pair import Brokers
from tests.interop.kafka_programs import CLIENTS, told

PROGRAMS = ["Topics", "Records", "Offsets", "Configs", "Cluster"]


@pytest.mark.parametrize("version", CLIENTS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_java_client_sees_what_it_sees_at_apache(
    brokers: Brokers, kafka_classes: Path, program: str, version: str
) -> None:
    ours = told(program, version, kafka_classes, brokers.ours)
    assert ours == told(program, version, kafka_classes, brokers.theirs)
