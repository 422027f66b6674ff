"""Settings come from a file, and from what is said besides."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.kafka.settings import load
from odradek.runtime.os_disk import OsDisk
from odradek.runtime.settings import SettingsRefused
from tests.kafka.settings.server_properties import SAMPLE


def test_what_is_overridden_wins_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text(SAMPLE)
    assert load(OsDisk(), str(path)).broker_id == 0
    settings = load(OsDisk(), str(path), {"broker.id": "5", "log.dirs": "/elsewhere"})
    assert (settings.broker_id, settings.given_node_id) == (5, 5)
    assert settings.log_dirs == ("/elsewhere",)
    assert settings.num_partitions == 1


def test_a_wrong_override_is_named_as_one(tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text("num.partitions=0\n")
    with pytest.raises(SettingsRefused) as caught:
        load(OsDisk(), str(path), {"num.io.threads": "many"})
    assert [str(it).removeprefix(str(tmp_path)) for it in caught.value.problems] == [
        "/server.properties:1: num.partitions='0': must be at least 1",
        "--override: num.io.threads='many': must be a whole number from -2147483648 to 2147483647",
    ]


def test_a_file_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(OsDisk(), str(tmp_path / "none"))
