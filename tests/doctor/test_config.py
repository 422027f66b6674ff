from __future__ import annotations

from pathlib import Path

from odradek.doctor import Finding, Level, examine, is_well

BROKER = "broker.id=1\nlisteners=PLAINTEXT://127.0.0.1:9092\n"


def look(file: Path, text: str) -> list[Finding]:
    file.write_text(text)
    return list(examine(str(file)))


def levels(findings: list[Finding], word: str) -> list[Level]:
    return [finding.level for finding in findings if word in finding.text]


def test_a_right_file_is_well(tmp_path: Path) -> None:
    data = Path("/srv/odradek-doctor-test")  # Not there yet, and not for a while only.
    found = look(
        tmp_path / "server.properties", f"{BROKER}log.dirs={data}\nzookeeper.connect=a:1\n"
    )
    assert is_well(found)
    assert {finding.level for finding in found} == {Level.NOTE, Level.GOOD}


def test_what_a_server_would_refuse_is_wrong_and_named_with_its_line(tmp_path: Path) -> None:
    found = look(tmp_path / "server.properties", f"{BROKER}log.segment.bytes=few\n")
    (problem,) = [finding for finding in found if finding.level is Level.WRONG]
    assert problem.subject.endswith("server.properties:3") and "log.segment.bytes" in problem.text


def test_unknown_keys_are_told_with_what_may_be_meant(tmp_path: Path) -> None:
    found = look(tmp_path / "server.properties", f"{BROKER}log.segment.byte=1\n")
    assert levels(found, "is log.segment.bytes meant?") == [Level.WARNING]


def test_security_without_effect_is_wrong_and_other_things_a_note(tmp_path: Path) -> None:
    text = f"{BROKER}num.io.threads=8\nssl.keystore.password=secret\n"
    found = look(tmp_path / "server.properties", text)
    assert levels(found, "num.io.threads") == [Level.NOTE]
    if password := levels(found, "ssl.keystore.password"):
        assert password == [Level.WRONG]
    assert not levels(found, "secret"), "a secret is never shown"


def test_dangerous_values_are_told(tmp_path: Path) -> None:
    text = (
        "broker.id=1\nlisteners=PLAINTEXT://:9092\nlog.dirs=/tmp/logs\n"
        "unclean.leader.election.enable=true\n"
        "default.replication.factor=2\nmin.insync.replicas=2\n"
    )
    found = look(tmp_path / "server.properties", text)
    for word in ("may lead", "writes stop", "removed by many systems"):
        assert levels(found, word) == [Level.WARNING], word
    found = look(tmp_path / "server.properties", f"{BROKER}min.insync.replicas=2\n")
    assert levels(found, "no producer with acks=all") == [Level.WRONG]


def test_a_zoo_cfg_is_known_by_its_keys(tmp_path: Path) -> None:
    text = f"dataDir={tmp_path}/zk\nclientPort=2181\nforceSync=no\nserver.1=a:1:2\nserver.2=b:1:2\n"
    (tmp_path / "zk").mkdir()
    (tmp_path / "zk" / "myid").write_text("1\n")
    found = look(tmp_path / "some.conf", f"{text}initLimit=5\nsyncLimit=2\n")
    assert levels(found, "read as a zoo.cfg") == [Level.NOTE]
    assert levels(found, "loses what was acknowledged") == [Level.WARNING]
    assert levels(found, "never removed") == [Level.WARNING]
    assert levels(found, "2 voters survive") == [Level.NOTE]


def test_a_path_that_is_not_there_is_wrong(tmp_path: Path) -> None:
    assert not is_well(examine(str(tmp_path / "nothing")))
