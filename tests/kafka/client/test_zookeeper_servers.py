"""ZooKeepers in place of bootstrap servers: what is read, and what is refused with which words."""

from __future__ import annotations

import pytest

from odradek.kafka.client.addresses import Address
from odradek.kafka.client.errors import InvalidSetting
from odradek.kafka.client.settings import client_settings, problems_of
from odradek.kafka.client.zookeeper_servers import (
    ZooKeeperServers,
    names_zookeeper,
    parse_zookeeper_servers,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("zk://zk1:2181", ZooKeeperServers("zk1:2181")),
        (" zk://zk1,zk2:2182/kafka-main ", ZooKeeperServers("zk1,zk2:2182/kafka-main")),
        ("ZK://[fe80::1]:2181/a/b", ZooKeeperServers("[fe80::1]:2181/a/b")),
        ("zk://zk1/", ZooKeeperServers("zk1/")),
        ("zk://zk1/k?listener=clients", ZooKeeperServers("zk1/k", "CLIENTS")),
    ],
)
def test_a_connect_string_stands_behind_the_scheme(text: str, expected: ZooKeeperServers) -> None:
    assert names_zookeeper(text)
    assert parse_zookeeper_servers(text) == expected
    assert parse_zookeeper_servers(str(expected)) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("zk://", "names no server"),
        ("zk:///kafka", "names no server"),
        ("zk://zk1:0", "server 'zk1:0'"),
        ("zk://zk1:99999/kafka", "server 'zk1:99999'"),
        ("zk://zk1:x", "server 'zk1:x'"),
        ("zk://zk1:2181/kafka/", "chroot '/kafka/'"),
        ("zk://zk1:2181//kafka", "chroot '//kafka'"),
        ("zk://zk1:2181/kafka/../other", "'/kafka/../other' is no path of a znode"),
        ("zk://zk1:2181,zk://zk2:2181", "zk:// stands once, before the first ZooKeeper"),
        ("zk://zk1:2181/k,zk2:2181/k", "the chroot stands once, behind the last ZooKeeper"),
        ("zk://me:secret@zk1:2181", "a user and a password have no place here"),
        ("zk://zk1/k?listen=A", "'?listen=A' is not understood: only ?listener=NAME is"),
        ("zk://zk1/k?", "'?' is not understood"),
        ("broker:9092,zk://zk1:2181", "either brokers are named or ZooKeepers"),
    ],
)
def test_what_is_none_is_refused_with_the_reason(text: str, words: str) -> None:
    (problem,) = problems_of({"bootstrap.servers": text})
    assert str(problem).startswith(f"bootstrap.servers={text}: ")
    assert words in problem.reason
    with pytest.raises(InvalidSetting):
        client_settings({"bootstrap.servers": text})


def test_brokers_by_name_are_no_zookeepers() -> None:
    assert not names_zookeeper("zk:9092")
    settings = client_settings({"bootstrap.servers": "zk:9092"})
    assert settings.zookeeper is None
    assert settings.bootstrap_servers == (Address("zk", 9092),)


def test_a_client_is_told_unless_it_is_a_task() -> None:
    settings = client_settings({"bootstrap.servers": "zk://zk1/kafka"})
    assert settings.is_told
    assert settings.zookeeper == ZooKeeperServers("zk1/kafka")
    assert not settings.for_task().is_told
    assert settings.for_task().zookeeper == settings.zookeeper
