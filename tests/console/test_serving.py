"""`odradek console` refuses what would let anybody in, in words."""

from __future__ import annotations

import socket

import pytest

from odradek.cli.main import main

pytest.importorskip("nicegui", reason="the console is made with nicegui")

NOWHERE = ["-b", "127.0.0.1:1", "-z", "127.0.0.1:1"]


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["console", *NOWHERE, *arguments]) == 1
    return capsys.readouterr().err


def test_others_are_only_let_in_with_a_password(capsys: pytest.CaptureFixture[str]) -> None:
    assert "give a --password" in refused(capsys, "--host", "0.0.0.0")
    assert "at least 8 characters" in refused(capsys, "--password", "short")


def test_a_port_that_is_taken_is_told_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert f"cannot listen on 127.0.0.1:{port}" in refused(capsys, "--port", port)


def test_no_cluster_is_told_in_words(
    capsys: pytest.CaptureFixture[str], tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(str(tmp_path))
    assert main(["console"]) == 1
    assert "which brokers?" in capsys.readouterr().err
