"""Every command against our own servers, and bad input to each."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from odradek.cli.main import COMMANDS, main
from odradek.testing import cluster
from tests.cli import commands
from tests.cli.commands import STORIES, Teller
from tests.waiting import wait_until

WITHIN_S = 60.0


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cli") / "cluster"


@pytest.fixture(scope="module")
def teller(data: Path) -> Iterator[Teller]:
    with cluster(data=data, faults=False) as running:
        yield Teller(running.bootstrap, running.zookeeper)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_commands_tell(teller: Teller, story: Callable[[Teller], None]) -> None:
    story(teller)


def test_commands_tell_of_plans(teller: Teller, tmp_path: Path) -> None:
    commands.tell_of_plans(teller, tmp_path)


def test_commands_tell_of_records(teller: Teller, tmp_path: Path) -> None:
    commands.tell_of_records(teller, tmp_path)


def test_commands_tell_of_znodes(teller: Teller, tmp_path: Path) -> None:
    commands.tell_of_znodes(teller, tmp_path)


def test_commands_tell_of_files(teller: Teller, data: Path) -> None:
    commands.tell_of_files(teller, data / "broker-1" / "data")


def test_zookeeper_may_be_named_in_place_of_brokers(teller: Teller) -> None:
    by_zookeeper = Teller(f"zk://{teller.zookeeper}", teller.zookeeper)
    commands.tell_of_brokers_by_zookeeper(by_zookeeper)


def test_what_is_no_zookeeper_gets_a_sentence(teller: Teller) -> None:
    said = teller.run("topic", "list", "--bootstrap", f"zk://{teller.zookeeper}/kafka/")
    assert said.code == 1
    assert "is no connect string of ZooKeeper" in said.err and "'/kafka/'" in said.err


def test_files_of_a_zookeeper_are_shown(teller: Teller, data: Path) -> None:
    teller.znode("create", "/filed", "x")
    rows = teller.run("log", "dump", data / "zookeeper-1" / "data" / "version-2", "--json").lines
    assert {"transaction", "znode"} <= {row["kind"] for row in rows}
    made = [row for row in rows if row.get("paths") == ["/filed"]]
    assert [row["operation"] for row in made] == ["create"]
    assert next(row["path"] for row in rows if row["kind"] == "znode") == "/"


def test_a_file_that_is_none_gets_a_sentence(teller: Teller, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    assert "no segment, index" in teller.run("log", "dump", tmp_path / "notes.txt").err
    assert "No such file" in teller.run("log", "dump", tmp_path / f"{0:020d}.log").err
    assert "holds no partition" in teller.run("log", "verify", tmp_path).err


def test_damage_is_found(teller: Teller, data: Path, tmp_path: Path) -> None:
    teller.kafka("produce", "cli-damaged", "value")
    segment = data / "broker-1" / "data" / "cli-damaged-0" / f"{0:020d}.log"
    copy = tmp_path / "cli-damaged-0"
    copy.mkdir()
    wait_until(lambda: segment.stat().st_size > 60)
    bytes_ = bytearray(segment.read_bytes())
    bytes_[-1] ^= 1
    (copy / segment.name).write_bytes(bytes_)
    said = teller.run("log", "verify", copy)
    assert (said.code, "checksum" in said.out) == (1, True)


def test_who_follows_sees_records_as_they_come(teller: Teller) -> None:
    teller.kafka("topic", "create", "cli-followed")
    thread = threading.Thread(
        target=lambda: teller_thread(teller, "produce", "cli-followed", "one", "two")
    )
    thread.start()
    said = teller.kafka("consume", "cli-followed", "--follow", "-n", 2)
    thread.join()
    assert said.out.split() == ["one", "two"]


def teller_thread(teller: Teller, *words: str) -> None:
    """As another process would: standard output is this process's."""
    assert main([*words, "--bootstrap", teller.bootstrap]) == 0


def test_a_line_is_sent_though_no_other_follows(teller: Teller) -> None:
    teller.kafka("topic", "create", "cli-slow")
    command = [sys.executable, "-m", "odradek.cli", "produce", "cli-slow"]
    process = subprocess.Popen([*command, "-b", teller.bootstrap], stdin=subprocess.PIPE)
    assert process.stdin is not None
    try:
        process.stdin.write(b"first\n")
        process.stdin.flush()
        assert teller.kafka("consume", "cli-slow", "--follow", "-n", 1).out == "first\n"
    finally:
        process.stdin.close()
        assert process.wait(WITHIN_S) == 0


def test_a_watch_tells_of_what_happens(teller: Teller) -> None:
    teller.znode("create", "/watched")
    done = threading.Event()

    def write() -> None:
        import asyncio
        from random import Random

        from odradek.zookeeper.client.aio import ZooKeeperClient

        async def inside() -> None:
            async with ZooKeeperClient(teller.zookeeper, random=Random()) as client:
                while not done.is_set():
                    await client.set_data("/watched", b"x")
                    await asyncio.sleep(0.05)

        asyncio.run(inside())

    thread = threading.Thread(target=write)
    thread.start()
    said = teller.znode("watch", "/watched", "-n", 1, "--json")
    done.set()
    thread.join()
    assert said.json == {"event": "data_changed", "path": "/watched"}


BAD = [
    ("topic create t -p many", 2, "--partitions"),
    ("topic create t -c nonsense", 2, "KEY=VALUE"),
    ("topic alter t", 1, "no topic t"),
    ("topic move nope --to 1", 1, "no topic nope"),
    ("consume t --from nowhere", 1, "no topic t"),
    ("consume cli-bad --from nowhere", 2, "earliest"),
    ("consume cli-bad -p 7", 2, "partition 7"),
    ("produce cli-bad xyz --format hex", 1, "is not hex"),
    ("produce cli-bad x -p 9", 1, "no partition 9"),
    ("produce cli-bad x --acks some", 1, "acks=some: must be one of"),
    ("produce cli-bad x -H nothing", 1, "NAME=VALUE"),
    ("group reset nobody --to earliest", 2, "committed nothing"),
    ("config show topics", 2, "topic:NAME"),
    ("config show broker:99", 1, "no broker 99"),
    ("config set topic:cli-bad", 2, "nothing to change"),
    ("txn describe nobody", 1, "TRANSACTIONAL_ID_NOT_FOUND"),
    ("txn producers cli-bad", 2, "TOPIC:PARTITION"),
]


@pytest.mark.parametrize(("words", "code", "expected"), BAD, ids=[it[0] for it in BAD])
def test_bad_input_gets_a_sentence(teller: Teller, words: str, code: int, expected: str) -> None:
    if "cli-bad" in words:
        teller.kafka("topic", "create", "cli-bad")
    said = teller.kafka(*words.split())
    assert said.code == code
    assert expected in " ".join(said.err.replace("│", " ").split())


def test_who_names_no_cluster_is_asked_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("ODRADEK_BOOTSTRAP", "ODRADEK_ZOOKEEPER"):
        monkeypatch.delenv(name, raising=False)
    nobody = Teller("", "")
    assert "which brokers?" in nobody.run("topic", "list").err
    assert "which ZooKeepers?" in nobody.run("znode", "ls").err


def test_the_cluster_of_this_directory_or_of_the_environment_is_spoken_to(
    teller: Teller, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".odradek").symlink_to(data)
    monkeypatch.chdir(tmp_path)
    assert teller.run("topic", "list", "--json").code == 0
    assert "controller" in teller.run("znode", "ls", "--json").json["children"]
    assert teller.run("cluster", "--json").json["controller_epoch"] == 1
    monkeypatch.setenv("ODRADEK_BOOTSTRAP", "127.0.0.1:1")
    assert "127.0.0.1:1: " in teller.run("topic", "list").err


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"demo", "zookeeper", "completion"}))
def test_every_command_has_a_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        assert main([name, "--help"]) == 0
    except SystemExit as end:  # Those that are made with argparse.
        assert end.code == 0
    assert f"odradek {name}" in capsys.readouterr().out


def test_the_shell_is_told_what_could_come_next(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", "bash"]) == 0
    assert "_ODRADEK_COMPLETE" in capsys.readouterr().out
    assert main(["completion", "dos"]) == 2
    capsys.readouterr()
    for words, expected in (("odradek top", "topic"), ("odradek topic mo", "move")):
        monkeypatch.setenv("_ODRADEK_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
        main([])
        assert capsys.readouterr().out.split() == [expected]
