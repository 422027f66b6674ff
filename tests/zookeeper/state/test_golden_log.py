"""The log of a real server, applied: the tree goes through the digests that it had there."""

from __future__ import annotations

from odradek.zookeeper.state.apply import apply
from odradek.zookeeper.state.layer import Layer
from odradek.zookeeper.state.tree import Tree
from odradek.zookeeper.wire.transactions import TxnEntry
from tests.zookeeper.wire.golden import golden_bytes
from tests.zookeeper.wire.snapshots import log_entries


def test_tree_and_layer_reach_the_digests_of_the_original() -> None:
    tree, other = Tree.fresh(), Tree.fresh()
    layer = Layer(tree)
    checked = 0
    for data in log_entries(golden_bytes("log.1"), 16):
        entry = TxnEntry.decode(data)
        changes = layer.begin()
        apply(layer, entry.header, entry.record)
        layer.forget(changes)
        tree.adopt(changes)
        apply(other, entry.header, entry.record)
        if entry.digest is not None:
            assert tree.digest == other.digest == layer.digest == entry.digest.tree_digest
            checked += 1
    assert checked == 9
    assert tree.nodes["/brokers"].children == {"ids": None, "topics": None}
