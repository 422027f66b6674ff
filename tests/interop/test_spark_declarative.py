"""The project that `odradek pipeline init` makes runs as it is."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from odradek.cli.main import main
from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.fetcher import Fetcher, OffsetRange
from odradek.kafka.wire.batch import read_batches
from odradek.kafka.wire.records import read_records
from tests.interop.programs import run_to_its_end
from tests.kafka.client.brokers import topics_of
from tests.kafka.client.topics import Topics
from tests.kafka.server.running import running_broker
from tests.pipelines.test_mirror import records


def values(topics: Topics, topic: str) -> list[bytes | None]:
    """What readers of one partition find."""
    from odradek.pipelines.clusters import ends_of

    where = TopicPartition(topic, 0)
    start, end = ends_of(topics.cluster, [where])[where]
    found = []
    for fetched in Fetcher(topics.cluster, [OffsetRange(where, start, end)]):
        for batch in read_batches(fetched.data):
            if not batch.is_control:
                found += [record.value for record in read_records(batch)]
    return found


def run_pipelines(project: Path, *more: str) -> None:
    scripts = Path(sys.executable).parent
    environment = {
        **os.environ,
        "PATH": f"{scripts}:{os.environ['PATH']}",
        "PYSPARK_PYTHON": sys.executable,
    }
    command = [str(scripts / "spark-pipelines"), "run", *more]
    code, out, error = run_to_its_end(command, project, environment)
    assert code == 0, out + error


@pytest.mark.parametrize("more", [(), ("--conf", "spark.sql.catalogImplementation=hive")])
def test_the_project_runs_as_it_is_and_goes_on_with_a_catalog(
    more: tuple[str, ...], tmp_path: Path
) -> None:
    project = tmp_path / "shop"
    with running_broker(tmp_path / "broker") as broker, topics_of(broker.address) as topics:
        source, target = topics.create(name="orders"), topics.create(name="revenue")
        arguments = ["pipeline", "init", str(project), "--servers", broker.address]
        assert main([*arguments, "--from", source, "--to", target]) == 0
        for first in (0, 20) if more else (0,):
            topics.append(source, 0, records(first, first + 20))
            run_pipelines(project, *more)
            found = values(topics, target)
            assert len(found) == first + 20
            assert b'"value":"v%d"' % (first + 19) in (found[-1] or b"")
