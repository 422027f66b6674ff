"""Our command line speaks to Apache's servers as it speaks to ours: the same stories."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli import commands
from tests.cli.commands import STORIES, Teller
from tests.interop.apache import ApacheZooKeeper
from tests.interop.apache_kafka import apache_broker


@dataclass(frozen=True, slots=True)
class Theirs:
    """Apache's broker on Apache's ZooKeeper."""

    teller: Teller
    data: Path


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theirs]:
    directory = tmp_path_factory.mktemp("apache")
    whitelist = {"4lw.commands.whitelist": "*"}
    (directory / "zookeeper").mkdir()
    with ApacheZooKeeper(directory / "zookeeper", whitelist) as zookeeper:
        settings: dict[str, object] = {"zookeeper.connect": zookeeper.connect_string}
        with apache_broker(directory / "broker", **settings) as broker:
            yield Theirs(Teller(broker.address, zookeeper.connect_string), broker.data)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_commands_tell(theirs: Theirs, story: Callable[[Teller], None]) -> None:
    story(theirs.teller)


def test_commands_tell_of_plans(theirs: Theirs, tmp_path: Path) -> None:
    commands.tell_of_plans(theirs.teller, tmp_path)


def test_commands_tell_of_records(theirs: Theirs, tmp_path: Path) -> None:
    commands.tell_of_records(theirs.teller, tmp_path)


def test_commands_tell_of_znodes(theirs: Theirs, tmp_path: Path) -> None:
    commands.tell_of_znodes(theirs.teller, tmp_path)


def test_commands_tell_of_files(theirs: Theirs) -> None:
    commands.tell_of_files(theirs.teller, theirs.data)
