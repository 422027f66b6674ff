"""The package reaches workers that do not have it: on a cluster of Spark, and over Connect."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from tests.interop.programs import run_to_its_end
from tests.kafka.client.brokers import topics_of
from tests.kafka.server.running import running_broker
from tests.pipelines.test_mirror import records


@pytest.fixture(autouse=True)
def _no_leavings() -> Iterator[None]:
    """Workers of a local cluster keep their logs where Spark is installed."""
    yield
    shutil.rmtree(Path(pyspark.__file__).parent / "work", ignore_errors=True)


@pytest.mark.parametrize("where", ["local-cluster[2,1,1024]", "connect"])
def test_pipelines_run_where_workers_lack_the_package(where: str, tmp_path: Path) -> None:
    with (
        running_broker(tmp_path / "here") as here,
        running_broker(tmp_path / "there") as there,
        topics_of(here.address) as topics,
    ):
        topic = topics.create(partitions=2, name="shipped")
        topics.append(topic, 0, records(0, 60))
        topics.append(topic, 1, records(60, 100))
        command = [sys.executable, "-m", "tests.pipelines.shipped", where]
        code, out, error = run_to_its_end(
            [*command, here.address, there.address, topic, str(tmp_path)]
        )
    assert code == 0, error
    said = json.loads(out.splitlines()[-1])
    assert "odradek.zip" in said.pop("origin"), "the worker has it from us alone"
    assert {"mirrored", "audited"} <= set(said) and set(said.values()) == {100}
    assert where == "connect" or {"archived", "replayed"} <= set(said)
