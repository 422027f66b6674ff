"""A real zoo.cfg, read as it is: typed, checked, and refused whole."""

from __future__ import annotations

from enum import Enum

import pytest

from odradek.runtime.secret import Secret
from odradek.runtime.settings import SettingsRefused
from odradek.zookeeper.settings import WITHOUT_EFFECT_YET, Address, Role, ZooKeeperSettings
from odradek.zookeeper.settings.without_effect import OF_THE_JVM, is_among
from tests.zookeeper.zoo_cfg import (
    KEYS,
    MEANINGS,
    OBSERVER_AND_VOTER,
    PREFIXED,
    ROWS,
    SAMPLE,
    THREE,
    read,
    refused,
    small,
)


def warned(text: str, jvm_flags: str = "") -> list[str]:
    return [str(warning) for warning in small(text, jvm_flags).warnings]


def written(value: object) -> str:
    """How a typed value stands in a file."""
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, Secret):
        return value.reveal()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(value)
    return str(value)


def test_the_sample_that_everybody_starts_from_is_read_without_a_word() -> None:
    settings = read(SAMPLE)
    assert settings.tick_time_ms == 2000
    assert (settings.min_session_timeout_ms, settings.max_session_timeout_ms) == (4000, 40_000)
    assert settings.data_dir == settings.data_log_dir == "/var/lib/zookeeper"
    assert settings.client_address == Address("0.0.0.0", 2181)
    assert not settings.is_distributed
    assert not settings.warnings
    assert not settings.without_effect


def test_what_is_not_given_has_the_default_of_zookeeper() -> None:
    settings = small()
    assert (settings.tick_time_ms, settings.max_session_timeout_ms) == (3000, 60_000)
    assert (settings.snap_count, settings.snap_retain_count) == (100_000, 3)
    assert (settings.pre_alloc_bytes, settings.txn_log_size_limit_bytes) == (67_108_864, None)
    assert settings.snap_size_limit_bytes == 4 << 30
    assert settings.jute_max_buffer_bytes == settings.jute_extra_bytes == 1_048_575
    assert settings.secure_client_address is None
    assert settings.role is Role.PARTICIPANT


@pytest.mark.parametrize("key", KEYS)
def test_every_key_of_zookeeper_is_declared(key: str) -> None:
    declared = {it for setting in ZooKeeperSettings.declared.values() for it in setting.all_keys}
    prefixes = tuple(it.prefix for it in ZooKeeperSettings.prefixes.values())
    assert key in declared or key.startswith(prefixes)


def test_every_key_given_at_once_arrives_in_its_field() -> None:
    lines = "".join(f"{key}={value}\n" for key, value, _ in ROWS)
    settings = read(lines + PREFIXED + OBSERVER_AND_VOTER)
    for key, text, field in ROWS:
        assert written(getattr(settings, field)) in MEANINGS.get(text, {text}), key
    assert settings.groups == {1: (1,), 2: (2,)}
    assert settings.weights == {1: 2}
    assert settings.auth_providers == {"sasl": "a.Sasl"}


def test_the_values_in_the_table_are_not_the_defaults() -> None:
    settings = small()
    same = [k for k, text, field in ROWS if written(getattr(settings, field)) == text]
    assert same == ["dataDir", "clientPort", "electionAlg"]  # Required, or with no choice.


def test_everything_wrong_is_said_at_once_with_file_line_key_value_and_reason() -> None:
    with pytest.raises(SettingsRefused) as caught:
        read(
            "tickTime=0\n"
            "clientPort=65536\n"
            "skipACL=Yes\n"
            "snapCount=many\n"
            "digest.enabled=on\n"
            "snapshot.compression.method=zip\n"
            "electionAlg=1\n"
            "peerType=voter\n"
            "server.1=host:2888\n"
            "server.x=host:2888:3888\n"
            "group.1=1,2\n"
            "version=0x10\n",
            "-Djute.maxbuffer=08",
        )
    assert str(caught.value).splitlines() == [
        "these settings cannot be used:",
        "  zoo.cfg:1: tickTime='0': must be at least 1",
        "  zoo.cfg:2: clientPort='65536': must be from 0 to 65535",
        "  zoo.cfg:3: skipACL='Yes': must be yes or no",
        "  zoo.cfg:4: snapCount='many': must be a whole number from -2147483648 to 2147483647",
        "  zoo.cfg:5: digest.enabled='on': must be true or false",
        "  zoo.cfg:6: snapshot.compression.method='zip': must be one of , gz, snappy",
        "  zoo.cfg:7: electionAlg='1': must be one of 3",
        "  zoo.cfg:8: peerType='voter': must be one of participant, observer",
        "  zoo.cfg:9: server.1='host:2888': "
        "must be host:quorumPort:electionPort[:participant|observer], several joined by |, "
        "and after a ; the port or host:port for clients",
        "  zoo.cfg:10: server.x: what follows 'server.' "
        "must be a whole number from -9223372036854775808 to 9223372036854775807",
        "  zoo.cfg:11: group.1='1,2': must be server ids joined by colons, such as 1:2:3",
        "  zoo.cfg:12: version='0x10': must be a zxid in hexadecimal, without 0x",
        "  SERVER_JVMFLAGS: -Djute.maxbuffer='08': "
        "must be a whole number from -2147483648 to 2147483647",
        "  zoo.cfg: dataDir: is required, but not given",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "minSessionTimeout=70000",
            "zoo.cfg:3: minSessionTimeout='70000': "
            "is 70000, larger than maxSessionTimeout, which is 60000",
        ),
        (
            "maxSessionTimeout=100",
            "zoo.cfg: minSessionTimeout: is 6000, larger than maxSessionTimeout, which is 100",
        ),
        (
            "secureClientPortAddress=::1",
            "zoo.cfg:3: secureClientPortAddress='::1': needs a secureClientPort",
        ),
        (
            "standaloneEnabled=false\nserver.1=a:1:2:observer\ninitLimit=1\nsyncLimit=1\n"
            "dataDir/myid=1",
            "zoo.cfg:3: standaloneEnabled='false': "
            "needs at least one participant among the servers if false",
        ),
        (
            "server.1=a:1:2\nserver.2=b:1:2:observer",
            "zoo.cfg:4: server.2='b:1:2:observer': observes, but there is no quorum to observe",
        ),
        (
            "server.1=a:1:2|b:1:2",
            "zoo.cfg:3: server.1='a:1:2|b:1:2': "
            "has several addresses, but multiAddress.enabled is not true",
        ),
        (
            THREE + "dataDir/myid=4",
            "zoo.cfg:9: dataDir/myid='4': there is no server.4",
        ),
        (
            THREE.replace("dataDir/myid=2", ""),
            "zoo.cfg: dataDir/myid: is missing: a server of an ensemble must know its id",
        ),
        (
            THREE + "group.1=1:2:3\ngroup.2=3",
            "zoo.cfg:10: group.2='3': server 3 is in another group too",
        ),
        (
            THREE + "group.1=1:2",
            "zoo.cfg:7: server.3='c:2888:3888': is in no group, but there are groups",
        ),
        (
            "quorum.auth.learnerRequireSasl=true",
            "zoo.cfg:3: quorum.auth.learnerRequireSasl='true': needs quorum.auth.enableSasl=true",
        ),
        (
            "server.1=a:1:2;2182\ndataDir/myid=1",
            "zoo.cfg:2: clientPort='2181': is not the port in server.1, 2182",
        ),
        (
            "extendedTypesEnabled=true\ndataDir/myid=255",
            "zoo.cfg:4: dataDir/myid='255': must be at most 254 with extendedTypesEnabled",
        ),
    ],
)
def test_values_that_cannot_be_used_together_are_refused(text: str, problem: str) -> None:
    assert refused(text) == [problem]


def test_several_servers_need_both_limits() -> None:
    assert refused(THREE.replace("Limit=", "Limits=")) == [
        "zoo.cfg: initLimit: is required with several servers",
        "zoo.cfg: syncLimit: is required with several servers",
    ]


def test_a_server_alone_needs_a_port_for_clients() -> None:
    with pytest.raises(SettingsRefused, match="clientPort: is required unless"):
        read("dataDir=/data")
    assert read("dataDir=/data\nsecureClientPort=2182").client_address is None
    assert read("dataDir=/data\n" + THREE).client_address is None


def test_an_ensemble_knows_its_voters_and_this_server() -> None:
    settings = small(THREE + "server.4=d:2888:3888:observer\npeerType=observer\ndataDir/myid=4\n")
    assert settings.is_distributed
    assert list(settings.voters) == [1, 2, 3]
    assert list(settings.observers) == [4]
    assert settings.me == settings.members[4]
    assert settings.role is Role.OBSERVER
    assert settings.connect_to_learner_master_limit == 10


def test_the_own_line_of_a_server_says_where_its_clients_connect() -> None:
    own = read("dataDir=/data\nserver.1=a:1:2;[::1]:2183\ndataDir/myid=1")
    assert own.client_address == Address("::1", 2183)
    assert small("clientPortAddress=lo").client_address == Address("lo", 2181)


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("server.1=a:1:2", "zoo.cfg:3: server.1='a:1:2': a single server is run standalone"),
        (
            THREE.replace("server.3", "#"),
            "zoo.cfg:5: server.1='a:2888:3888': "
            "with fewer than three voters no failure is survived",
        ),
        (
            THREE + "server.4=d:1:2",
            "zoo.cfg:5: server.1='a:2888:3888': "
            "an even number of voters survives no more than one less",
        ),
        (
            THREE + "peerType=observer",
            "zoo.cfg:9: peerType='observer': "
            "the list of servers says participant, and the list counts",
        ),
        (
            "autopurge.snapRetainCount=1",
            "zoo.cfg:3: autopurge.snapRetainCount='1': is below the least possible, so 3 is used",
        ),
        ("snapCount=1", "zoo.cfg:3: snapCount='1': is below the least possible, so 2 is used"),
        (
            "dataLogDir=log",
            "zoo.cfg:3: dataLogDir='log': "
            "is relative to the directory that the server is started in",
        ),
        ("snapCuont=1", "zoo.cfg:3: snapCuont: unknown, not used; is snapCount meant?"),
        ("myid=1", "zoo.cfg:3: myid: unknown, not used"),
        ("zookeeper.tickTime=1", "zoo.cfg:3: zookeeper.tickTime: unknown, not used"),
        (
            "zookeeper.snapCount=9",
            "zoo.cfg:3: zookeeper.snapCount: ZooKeeper itself knows this in the file "
            "only as snapCount",
        ),
        (
            "jute.maxbuffer=9",
            "zoo.cfg:3: jute.maxbuffer: ZooKeeper itself takes this only from SERVER_JVMFLAGS, "
            "as -Djute.maxbuffer",
        ),
    ],
)
def test_what_is_odd_is_used_with_a_warning(text: str, warning: str) -> None:
    assert warning in warned(text)


def test_blanks_around_keys_and_values_do_not_count() -> None:
    settings = read("  dataDir = /data \t\n\tclientPort :2181  \n 4lw.commands.whitelist=ruok , *")
    assert settings.data_dir == "/data"
    assert settings.client_port == 2181
    assert settings.is_word_allowed("mntr")


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("", {"srvr"}),
        ("4lw.commands.whitelist=ruok, stat", {"srvr", "ruok", "stat"}),
        ("4lw.commands.whitelist=*", {"srvr", "ruok", "stat", "isro"}),
        ("readonlymode.enabled=true", {"srvr", "isro"}),
    ],
)
def test_only_the_words_on_the_whitelist_are_allowed(text: str, allowed: set[str]) -> None:
    settings = small(text)
    assert {w for w in ("srvr", "ruok", "stat", "isro") if settings.is_word_allowed(w)} == allowed


def test_passwords_are_never_shown() -> None:
    keys = [row[0] for row in ROWS if row[1].startswith("hunter")]
    lines = "".join(f"{key}=hunter\n" for key in keys) + "ssl.quorum.keyStore.password=hunter\n"
    settings = small(lines + "ssl.keyStore.pasword=hunter\n")
    assert len(keys) == 3
    assert settings.ssl_quorum_options == {"keyStore.password": Secret("hunter")}
    shown = [repr(settings), *map(str, settings.warnings), *map(str, settings.without_effect)]
    assert "hunter" not in "".join(shown)


def test_a_key_without_effect_is_named_when_it_is_given() -> None:
    settings = small("ssl.crl=true\nnetty.advancedFlowControl.enabled=true\ninitLimit=5\n")
    assert [str(it) for it in settings.without_effect] == [
        "zoo.cfg:3: ssl.crl: has no effect yet",
        "zoo.cfg:4: netty.advancedFlowControl.enabled: "
        "has no effect: it steers the inside of a JVM",
    ]
    assert not settings.warnings


@pytest.mark.parametrize("line", ["sslQuorum=true", "ssl.quorum.keyStore.location=/a.jks"])
def test_who_asks_for_tls_between_members_is_told_that_there_is_none_yet(line: str) -> None:
    (problem,) = [it for it in small(f"{THREE}{line}\n").without_effect if "uorum" in it.key]
    assert str(problem).endswith("members of an ensemble speak to each other in the clear")


def test_what_is_said_of_an_ensemble_is_named_only_in_an_ensemble() -> None:
    named = [it.key for it in small(THREE).without_effect]
    assert ("initLimit" in named) == ("initLimit" in WITHOUT_EFFECT_YET)


@pytest.mark.parametrize("name", sorted(WITHOUT_EFFECT_YET))
def test_a_key_without_effect_yet_is_declared_all_the_same(name: str) -> None:
    declared = {it for setting in ZooKeeperSettings.declared.values() for it in setting.all_keys}
    prefixes = {it.prefix for it in ZooKeeperSettings.prefixes.values()}
    assert any(key.startswith(name) for key in declared | prefixes)
    assert not is_among(name, OF_THE_JVM)
