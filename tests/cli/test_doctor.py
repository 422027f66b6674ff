from __future__ import annotations

import json
from pathlib import Path

import pytest

from odradek.cli.main import main

Captured = pytest.CaptureFixture[str]


def test_a_file_that_is_wrong_fails_the_command(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "server.properties"
    file.write_text("broker.id=one\n")
    assert main(["doctor", str(file), "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert not said["well"] and any(one["level"] == "wrong" for one in said["findings"])
    assert main(["doctor", str(file)]) == 1
    assert "1 wrong" in capsys.readouterr().out


def test_a_file_that_is_right_does_not(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "server.properties"
    file.write_text("broker.id=1\nlog.dirs=/srv/nothing-here\n")
    assert main(["doctor", str(file)]) == 0
    assert "wrong" not in capsys.readouterr().out.replace("nothing is wrong", "")
