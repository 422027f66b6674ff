"""The commands as a user gives them, on real brokers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from odradek.cli.main import main
from odradek.console.pipelines import Reports
from tests.kafka.client.topics import Topics
from tests.pipelines.test_mirror import records, rows

Captured = pytest.CaptureFixture[str]


def told(capsys: Captured, *arguments: str, code: int = 0) -> Any:
    """What a command prints as JSON."""
    assert main(["pipeline", *arguments, "--json"]) == code, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def test_a_topic_is_archived_replayed_and_mirrored(
    spark: SparkSession, topics: Topics, elsewhere: Topics, tmp_path: Path, capsys: Captured
) -> None:
    topic, folder = topics.create(name="cli"), str(tmp_path / "archive")
    topics.append(topic, 0, records(0, 30))
    here, there = topics.bootstrap_servers, elsewhere.bootstrap_servers
    archived = told(capsys, "archive", topic, "--to", folder, "--servers", here, "--report")
    assert (archived["rows"], archived["compacted"]["files_after"]) == (30, 1)
    mirrored = told(capsys, "mirror", topic, "--from", here, "--to", there, "--report")
    assert mirrored["positions"] == {f"{topic}-0": 30}
    reports = [
        *Reports().read(topics.cluster).values(),
        *Reports().read(elsewhere.cluster).values(),
    ]
    assert {("archive", 30), ("mirror", 30)} <= {
        (it.standing.name, it.standing.rows) for it in reports
    }
    assert not any(it.standing.is_running for it in reports if it.standing.rows == 30)
    replayed = told(capsys, "replay", folder, "--servers", there, "--prefix", "again-")
    assert replayed["topics"] == {topic: f"again-{topic}"}
    assert rows(spark, elsewhere, topic) == rows(spark, elsewhere, f"again-{topic}")


def test_an_audit_that_finds_something_fails_and_draws_it(
    spark: SparkSession, topics: Topics, tmp_path: Path, capsys: Captured
) -> None:
    topic, page = topics.create(name="audited"), tmp_path / "audit.html"
    topics.append(topic, 0, records(0, 5) + records(2, 3))
    command = ["audit", topic, "--servers", topics.bootstrap_servers, "--plot", str(page)]
    found = told(capsys, *command, "--identity", "value", code=1)
    assert found["repeated"][0]["identity"] == "v2"
    assert "1 records are there once more" in page.read_text()
    assert main(["pipeline", *command]) == 0
    assert "nothing is wrong with 6 records" in capsys.readouterr().out


def test_progress_is_lines_where_there_is_no_terminal(
    spark: SparkSession, topics: Topics, elsewhere: Topics, capsys: Captured
) -> None:
    topic = topics.create(name="lines")
    topics.append(topic, 0, records(0, 5))
    servers = ["--from", topics.bootstrap_servers, "--to", elsewhere.bootstrap_servers]
    assert main(["pipeline", "mirror", topic, *servers]) == 0
    said = capsys.readouterr()
    assert said.err.startswith("mirror: 5 rows, ") and "0 behind" in said.err
    assert "records" in said.out


def test_what_cannot_be_is_said_in_one_sentence(
    spark: SparkSession, topics: Topics, capsys: Captured
) -> None:
    here = topics.bootstrap_servers
    assert main(["pipeline", "mirror", "t", "--from", here, "--to", here]) == 1
    assert capsys.readouterr().err.startswith("odradek: source and target are one cluster")
    assert main(["pipeline", "audit", "nowhere", "--servers", here]) == 1
    assert "the cluster has no topic nowhere" in capsys.readouterr().err


def test_wrong_arguments_are_2(capsys: Captured) -> None:
    assert main(["pipeline", "mirror"]) == 2
    assert main(["pipeline", "archive", "t", "--to", "x", "--conf", "nothing"]) == 2


def test_a_project_is_made_in_an_empty_folder_only(tmp_path: Path, capsys: Captured) -> None:
    folder = tmp_path / "project"
    assert main(["pipeline", "init", str(folder), "--from", "a", "--to", "b"]) == 0
    spec = (folder / "spark-pipeline.yml").read_text()
    assert "name: project" in spec and f"storage: file://{folder}/storage" in spec
    for file in (folder / "transformations").iterdir():
        compile(file.read_text(), str(file), "exec")
    assert main(["pipeline", "init", str(folder)]) == 1
    assert "is not empty" in capsys.readouterr().err
