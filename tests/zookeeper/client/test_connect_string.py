"""Where the servers are, and which znode is the root."""

from __future__ import annotations

import pytest

from odradek.zookeeper.client.connect_string import Address, ConnectString, parse_connect_string
from odradek.zookeeper.client.errors import BadArguments

GOOD = {
    "a": ([("a", 2181)], ""),
    "a:99": ([("a", 99)], ""),
    "a:1,b:2,c": ([("a", 1), ("b", 2), ("c", 2181)], ""),
    " a:1 , b:2,": ([("a", 1), ("b", 2)], ""),
    "a/": ([("a", 2181)], ""),
    "a:1,b:2/kafka/east": ([("a", 1), ("b", 2)], "/kafka/east"),
    "[::1]": ([("::1", 2181)], ""),
    "[fe80::1]:99,b/c": ([("fe80::1", 99), ("b", 2181)], "/c"),
    "10.0.0.1:2181": ([("10.0.0.1", 2181)], ""),
}


@pytest.mark.parametrize("text", GOOD)
def test_a_connect_string_names_servers_and_a_root(text: str) -> None:
    addresses, chroot = GOOD[text]
    expected = ConnectString(tuple(Address(*address) for address in addresses), chroot)
    assert parse_connect_string(text) == expected


BAD_SERVERS = ["", ",", "/a", "a:", "a:x", "a:0", "a:65536", "::1", "[::1", "a b", "a" * 64]
BAD_ROOTS = ["a/b/", "a//b"]


@pytest.mark.parametrize("text", BAD_SERVERS + BAD_ROOTS)
def test_what_names_no_server_or_no_root_is_refused(text: str) -> None:
    with pytest.raises(BadArguments):
        parse_connect_string(text)


def test_an_address_is_written_as_it_is_read() -> None:
    for text in ("a:1", "[::1]:2181"):
        (address,) = parse_connect_string(text).addresses
        assert str(address) == text
