"""The directory of a cluster: one owner, one shape, nothing of others."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.local.directory import FILE, ClusterDirectory, is_running, running_address
from odradek.local.errors import ForeignDirectory
from odradek.local.plan import BrokerPlan, ClusterPlan

PLAN = ClusterPlan((BrokerPlan(1, 9092, 9192),))


def test_a_directory_has_one_owner_at_a_time(tmp_path: Path) -> None:
    first, second = ClusterDirectory(tmp_path / "c"), ClusterDirectory(tmp_path / "c")
    first.own()
    with pytest.raises(ForeignDirectory, match="another cluster runs on"):
        second.own()
    first.release()
    second.own()
    second.release()


def test_a_directory_with_other_things_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ForeignDirectory, match=r"holds other things \(thesis.tex\)"):
        ClusterDirectory(tmp_path).own()
    assert [it.name for it in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "c").write_text("")
    with pytest.raises(ForeignDirectory, match="is a file"):
        ClusterDirectory(tmp_path / "c").own()


@pytest.mark.parametrize("text", ["{", "[]", '{"format": 99}', '{"format": 1, "brokers": 3}'])
def test_a_file_that_says_nothing_of_ours_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    home = ClusterDirectory(tmp_path)
    home.own()
    with pytest.raises(ForeignDirectory, match=r"cluster\.json"):
        home.known_plan()
    home.release()


def test_the_address_is_known_while_the_cluster_runs(tmp_path: Path) -> None:
    home = ClusterDirectory(tmp_path / "c")
    assert running_address(home.path) is None
    home.own()
    home.write(PLAN, "127.0.0.1:2181")
    assert is_running(home.path)
    assert running_address(home.path) == ("127.0.0.1:9092", "127.0.0.1:2181")
    assert home.known_plan() == PLAN
    home.release()
    assert running_address(home.path) is None
