"""Where settings come from: the file, the flags of a JVM, the dynamic file and `myid`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from odradek.runtime.os_disk import OsDisk
from odradek.runtime.secret import Secret
from odradek.runtime.settings import SettingsRefused
from odradek.zookeeper.settings import Address, load
from tests.zookeeper.zoo_cfg import THREE, refused, small


def write(directory: Path, files: Mapping[str, str]) -> str:
    for name, text in files.items():
        (directory / name).write_text(text.replace("DIR", str(directory)))
    return str(directory / "zoo.cfg")


def test_a_key_with_and_without_the_prefix_has_its_last_value() -> None:
    settings = small("snapCount=7\nzookeeper.snapCount=8")
    assert settings.snap_count == 8
    assert "zoo.cfg:4: zookeeper.snapCount: given before as snapCount, on line 3; " in "".join(
        map(str, settings.warnings)
    )


def test_flags_of_the_jvm_set_what_is_not_an_own_key_of_the_file() -> None:
    flags = "-Xmx1g -Dzookeeper.snapCount=0x10 -Dreadonlymode.enabled=true -Dzookeeper.tickTime=1"
    settings = small("", flags + " -DsnapCount=5 -Dfsync.warningthresholdms=6")
    assert settings.snap_count == 16
    assert settings.read_only_mode_enabled
    assert settings.tick_time_ms == 3000
    assert settings.fsync_warning_threshold_ms == 6
    assert [str(warning) for warning in settings.warnings] == [
        "SERVER_JVMFLAGS: -DsnapCount: unknown, not used; is snapCount meant?",
        "SERVER_JVMFLAGS: -Dzookeeper.tickTime: unknown, not used",
    ]


def test_the_file_wins_over_the_flags_and_the_prefix_over_its_lack() -> None:
    assert small("snapCount=7", "-Dzookeeper.snapCount=8").snap_count == 7
    flags = "-Dzookeeper.fsync.warningthresholdms=1 -Dfsync.warningthresholdms=2"
    assert small("", flags).fsync_warning_threshold_ms == 1


def test_a_flag_wins_only_where_zookeeper_asks_it_last() -> None:
    assert not small("syncEnabled=true", "-Dzookeeper.observer.syncEnabled=false").sync_enabled


@pytest.mark.parametrize(
    ("flags", "digest"),
    [
        ("-DX=super:a=", "super:a="),
        ("'-DX=a b'", "a b"),
        ('-DX="a b"', "a b"),
        ("-DX='a \"b'", 'a "b'),
        (r"-DX=a\b", r"a\b"),
        ("\t-Xms1g\n -DX=1  -DX=2 ", "2"),
        ("-DX=#1", "#1"),
        ("-DX", ""),
    ],
)
def test_flags_are_parted_as_a_shell_parts_words(flags: str, digest: str) -> None:
    name = "zookeeper.DigestAuthenticationProvider.superDigest"
    assert small("", flags.replace("-DX", f"-D{name}")).super_digest == Secret(digest)


def test_a_quotation_that_does_not_end_is_refused() -> None:
    assert refused("", '-Dzookeeper.snapCount="1') == [
        "SERVER_JVMFLAGS: -D: a quotation mark among the flags is not closed"
    ]


@pytest.mark.parametrize(
    ("text", "number"), [("10", 10), ("010", 8), ("0x1F", 31), ("#1f", 31), ("-0x1", -1), ("0", 0)]
)
def test_a_property_is_decoded_as_a_jvm_decodes_it(text: str, number: int) -> None:
    assert small(f"maxCnxns={text}").max_cnxns == number


def test_a_server_finds_its_id_in_its_data_directory(tmp_path: Path) -> None:
    path = write(tmp_path, {"zoo.cfg": "dataDir=DIR\nclientPort=1\n" + THREE, "myid": "3\n"})
    assert load(OsDisk(), path).server_id == 3
    write(tmp_path, {"myid": "three"})
    with pytest.raises(SettingsRefused, match=r"/myid:1: myid='three': must be a whole number"):
        load(OsDisk(), path)


def test_the_dynamic_file_holds_the_servers_and_its_name_their_version(tmp_path: Path) -> None:
    files = {
        "zoo.cfg": "dataDir=DIR\ninitLimit=1\nsyncLimit=1\ndynamicConfigFile=DIR/servers.1f\n",
        "servers.1f": "server.1=a:1:2;2181\nserver.2=b:1:2;2181\n",
        "myid": "1",
    }
    settings = load(OsDisk(), write(tmp_path, files), "-Dzookeeper.snapCount=9")
    assert list(settings.members) == [1, 2]
    assert settings.config_version == 0x1F
    assert settings.client_address == Address("0.0.0.0", 2181)
    assert settings.snap_count == 9


def test_each_file_holds_only_what_belongs_there(tmp_path: Path) -> None:
    files = {
        "zoo.cfg": "dataDir=DIR\nserver.1=a:1:2\ndynamicConfigFile=DIR/servers\n",
        "servers": "tickTime=1\nversion=2\n",
    }
    with pytest.raises(SettingsRefused) as caught:
        load(OsDisk(), write(tmp_path, files))
    assert [str(it).replace(str(tmp_path), "") for it in caught.value.problems] == [
        "/servers:1: tickTime: must not be in the dynamic file",
        "/zoo.cfg:2: server.1='a:1:2': must be in the dynamic file",
        "/servers:2: version: must not be in the dynamic file",
    ]


def test_a_dynamic_file_that_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    path = write(tmp_path, {"zoo.cfg": "dataDir=DIR\nclientPort=1\ndynamicConfigFile=/no/such"})
    with pytest.raises(SettingsRefused, match=r"dynamicConfigFile='/no/such': cannot be read: No"):
        load(OsDisk(), path)
