"""Sheets: every node stands on one, in the order of creation, and what is gone is let go."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from odradek.zookeeper.state.node import Node
from odradek.zookeeper.state.sheets import SHEET_NODES
from odradek.zookeeper.state.tree import OPEN_ACL, Tree


def make(tree: Tree, path: str) -> None:
    parent = tree.nodes[path[: path.rfind("/")] or "/"]
    tree.add(path, Node(b"", OPEN_ACL, 0, 1, 1), parent)


def unmake(tree: Tree, path: str) -> None:
    tree.remove(path, tree.nodes[path], tree.nodes[path[: path.rfind("/")] or "/"])


def standing(tree: Tree) -> list[str]:
    """The paths as a snapshot would walk along them."""
    return [
        path
        for sheet in tree.sheets.all
        for path in sheet.paths
        if path in tree.nodes and tree.nodes[path].sheet is sheet
    ]


def test_a_full_sheet_is_followed_by_another() -> None:
    tree = Tree.fresh()
    for number in range(3 * SHEET_NODES):
        make(tree, f"/{number}")
    assert [len(sheet.paths) for sheet in tree.sheets.all] == [512, 512, 512, 4]


def test_nodes_that_come_and_go_leave_no_sheets_behind() -> None:
    tree = Tree.fresh()
    for number in range(20 * SHEET_NODES):
        make(tree, f"/{number}")
        unmake(tree, f"/{number}")
    assert len(tree.sheets.all) == 1
    assert len(tree.sheets.last.paths) <= SHEET_NODES


def test_one_node_that_comes_and_goes_again_and_again_takes_no_more_than_a_sheet() -> None:
    tree = Tree.fresh()
    for _ in range(3 * SHEET_NODES):
        make(tree, "/a")
        unmake(tree, "/a")
    make(tree, "/a")
    tree.sheets.turn()
    assert standing(tree).count("/a") == 1
    assert len(tree.sheets.all) == 2


def test_a_sheet_whose_nodes_are_all_gone_is_gone() -> None:
    tree = Tree.fresh()
    for number in range(4 * SHEET_NODES):
        make(tree, f"/{number}")
    for number in range(4 * SHEET_NODES):
        unmake(tree, f"/{number}")
    assert len(tree.sheets.all) <= 2
    assert sum(len(sheet.paths) for sheet in tree.sheets.all) <= SHEET_NODES


def test_whoever_changes_a_node_makes_its_sheet_stale_and_no_other() -> None:
    tree = Tree.fresh()
    make(tree, "/a")
    first = tree.sheets.last
    tree.sheets.turn()
    make(tree, "/b")
    second = tree.sheets.last
    first.is_stale = second.is_stale = False
    tree.changed("/a", tree.nodes["/a"])
    assert (first.is_stale, second.is_stale) == (True, False)


PATHS = ("/a", "/a/b", "/a/b/c", "/d", "/a/e")


@given(st.lists(st.sampled_from((*PATHS, "turn")), max_size=60))
def test_each_node_stands_once_and_behind_its_parent(steps: list[str]) -> None:
    """A step makes a node, or takes it away if it is there, as far as that can be."""
    tree = Tree.fresh()
    for path in steps:
        if path == "turn":
            tree.sheets.turn()
        elif path not in tree.nodes:
            if path[: path.rfind("/")] in tree.nodes:
                make(tree, path)
        elif not tree.nodes[path].children:
            unmake(tree, path)
    tree.sheets.turn()
    found = standing(tree)
    assert sorted(found) == sorted(set(tree.nodes) - {"/"})
    for path in found[1:]:
        assert found.index(path[: path.rfind("/")]) < found.index(path)
