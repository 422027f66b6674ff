"""`odradek up --console`: the page comes with the cluster, and goes with it."""

from __future__ import annotations

from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.cli.test_up import refused, up
from tests.processes import free_port
from tests.waiting import wait_until

pytest.importorskip("nicegui", reason="the console is made with nicegui")


def status_of(port: int) -> int:
    """What the console answers; 0 if there is none."""
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/ensemble")
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


@pytest.mark.parametrize("shape", [[], ["--zookeepers", "1"]], ids=["alone", "together"])
def test_the_console_runs_as_long_as_the_cluster(tmp_path: Path, shape: list[str]) -> None:
    port = free_port()
    with up(tmp_path, "--console", str(port), *shape) as said:
        assert said["console"] == f"http://127.0.0.1:{port}"
        wait_until(lambda: status_of(port) == 200)
        assert "is taken" in refused(tmp_path, "--data", "other", "--console", str(port))
    assert status_of(port) == 0
