"""The built wheel in a fresh environment: the plugin is found by pytest, the command runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PROJECT = """
import pytest

def test_a_topic_is_led(odradek, odradek_topic):
    assert odradek.leader_of(odradek_topic) == "broker-1"

@pytest.mark.odradek(brokers=3, zookeepers=3)
def test_a_killed_leader_is_succeeded(odradek, odradek_topic):
    leader = odradek.leader_of(odradek_topic)
    odradek.kill(leader)
    odradek.wait_until(lambda: odradek.leader_of(odradek_topic) != leader)
"""


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_a_project_in_a_fresh_environment_uses_the_plugin(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    wheel = subprocess.run(
        [*pip, "wheel", "--no-deps", "-w", str(tmp_path / "wheel"), str(ROOT)],
        capture_output=True,
        text=True,
    )
    if wheel.returncode:
        pytest.skip(f"no wheel can be built here: {wheel.stderr[-200:]}")
    run(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    (built,) = (tmp_path / "wheel").glob("*.whl")
    run(python, "-m", "pip", "-q", "install", built, "pytest", cwd=tmp_path)
    (tmp_path / "test_project.py").write_text(PROJECT)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    assert "2 passed" in run(python, "-m", "pytest", "-q", cwd=tmp_path)
    assert "up " in run(tmp_path / "venv" / "bin" / "odradek", "--help", cwd=tmp_path)
