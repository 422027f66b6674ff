"""A client's own root is added to what leaves and taken off what comes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.zookeeper.client.chroot import Chroot
from odradek.zookeeper.client.errors import BadArguments

PATHS = st.lists(st.sampled_from(["a", "ab", "b"])).map(lambda names: "/" + "/".join(names))
PREFIXES = st.sampled_from(["", "/a", "/a/b"])


def test_the_root_itself_is_the_chroot() -> None:
    chroot = Chroot("/a/b")
    assert chroot.add("/") == "/a/b"
    assert chroot.remove("/a/b") == "/"
    assert chroot.add("/c") == "/a/b/c"
    assert chroot.remove("/a/b/c") == "/c"


@given(PREFIXES, PATHS)
def test_what_was_added_is_taken_off(prefix: str, path: str) -> None:
    chroot = Chroot(prefix)
    assert chroot.holds(chroot.add(path))
    assert chroot.remove(chroot.add(path)) == path


def test_a_path_from_elsewhere_stays_whole() -> None:
    assert Chroot("/a").remove("/ab/c") == "/ab/c"
    assert Chroot("/a").remove("/zookeeper/config") == "/zookeeper/config"


@pytest.mark.parametrize("path", ["", "a", "a/b"])
def test_a_path_begins_with_a_slash(path: str) -> None:
    with pytest.raises(BadArguments):
        Chroot("/b").add(path)
