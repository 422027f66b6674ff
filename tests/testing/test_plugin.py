"""The pytest plugin, as a project that uses it would: its own tests, run by its own pytest."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

PROJECT = """
import pytest

seen = []

def test_the_cluster_serves(odradek, odradek_topic):
    seen.append((odradek.bootstrap, odradek_topic))
    assert odradek.leader_of(odradek_topic) == "broker-1"
    assert odradek.zookeeper.startswith("127.0.0.1:")
    odradek.pause("broker-1")

def test_it_is_shared_and_calm_again_and_topics_are_gone(odradek, odradek_topics):
    (bootstrap, topic), = seen
    assert odradek.bootstrap == bootstrap
    assert odradek_topics(partitions=2) != topic
    with pytest.raises(Exception, match="has no topic"):
        odradek.topics.check(topic)

@pytest.mark.odradek(brokers=2, settings={"num.partitions": 3})
def test_a_marker_asks_for_another(odradek):
    assert odradek.brokers == ["broker-1", "broker-2"]

@pytest.mark.odradek(fresh=True)
def test_a_fresh_one_is_nobody_elses(odradek, odradek_cluster):
    assert odradek.bootstrap != odradek_cluster.bootstrap
"""


def plugin_arguments() -> list[str]:
    """Where the package is not installed with its entry point, the plugin is named."""
    is_installed = any(
        it.value == "odradek.testing.plugin" for it in entry_points(group="pytest11")
    )
    return [] if is_installed else ["-p", "odradek.testing.plugin"]


def test_fixtures_and_marker_work_in_a_project_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "test_project.py").write_text(PROJECT)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    command = [sys.executable, "-m", "pytest", "-q", *plugin_arguments()]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env=dict(os.environ)
    )
    assert "4 passed" in done.stdout, done.stdout + done.stderr
