"""Which paths a znode can have."""

from __future__ import annotations

import pytest

from odradek.zookeeper.state.paths import (
    ROOT,
    ancestors_of,
    is_valid,
    is_valid_below,
    name_of,
    parent_of,
)


@pytest.mark.parametrize(
    "path", ["/", "/a", "/a/b", "/a.b", "/...", "/.a", "/a..", "/é/한", "/a b"]
)
def test_ordinary_paths_are_valid(path: str) -> None:
    assert is_valid(path)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "a",
        "//",
        "/a/",
        "/a//b",
        "/.",
        "/..",
        "/a/./b",
        "/a/../b",
        "/a/..",
        "/\0",
        "/\x1f",
        "/\x7f",
        "/\x9f",
        "/\ue000",
        "/\uf8ff",
        "/\ufff0",
        "/\U0001f600",
    ],
)
def test_what_the_original_refuses_is_invalid(path: str) -> None:
    assert not is_valid(path)


@pytest.mark.parametrize("parent", ["/", "/a", "/a/b"])
@pytest.mark.parametrize(
    "name", ["", "a", "a.b", "...", ".", "..", "é", "\0", "\x1f", "\x9f", "\ue000", "\U0001f600"]
)
@pytest.mark.parametrize("slashes", ["/", "//"])
def test_below_a_parent_that_is_there_only_the_name_counts(
    parent: str, name: str, slashes: str
) -> None:
    path = ("" if parent == ROOT else parent) + slashes + name
    if is_valid(parent_of(path) or ROOT):
        assert is_valid_below(path, path.rfind("/")) == is_valid(path)


def test_the_parent_of_a_top_level_node_is_the_root_s_other_name() -> None:
    assert parent_of("/a") == ""
    assert parent_of("/a/b") == "/a"
    assert name_of("/a/b") == "b"
    assert ancestors_of("/a/b") == ["/a/b", "/a", "/"]
    assert ancestors_of("/") == ["/"]
