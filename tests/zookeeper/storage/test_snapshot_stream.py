"""A snapshot over the wire: any tree arrives, however the stream is cut, and no other is taken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.state.tree import Tree
from odradek.zookeeper.storage.snapshot_slices import body_slices
from odradek.zookeeper.storage.snapshot_stream import SIGNATURE, SnapshotStream
from tests.zookeeper.storage.histories import History, Step, any_steps, portrait


def stream_of(history: History) -> bytes:
    return b"".join(body_slices(history.tree, history.timeouts)) + SIGNATURE


@given(any_steps(), st.integers(1, 200), st.binary(max_size=20))
def test_any_tree_arrives_whatever_the_pieces(steps: list[Step], size: int, rest: bytes) -> None:
    history = History(steps)
    data = stream_of(history) + rest
    end = len(data) - len(rest)
    incoming = SnapshotStream()
    found = None
    for start in range(0, len(data), size):
        assert found is None or start >= end
        piece = incoming.feed(data[start : start + size]) if found is None else b""
        found = piece if found is None else found + data[start : start + size]
    assert found == rest
    assert incoming.timeouts == history.timeouts
    incoming.tree.last_zxid = history.tree.last_zxid
    assert portrait(incoming.tree) == portrait(history.tree)
    assert incoming.tree.digest == history.tree.digest


def test_a_stream_that_ends_early_is_not_taken_for_whole() -> None:
    history = History([("create", "/a", 1), ("create", "/a/b", 2)])
    incoming = SnapshotStream()
    assert incoming.feed(stream_of(history)[:-1]) is None


@pytest.mark.parametrize(
    ("found", "put"), [(SIGNATURE, b"\0\0\0\x0aBenWasNot!"), (b"\0\0\0\2/a", b"\0\0\0\x02/\xff")]
)
def test_nonsense_is_the_peers_fault(found: bytes, put: bytes) -> None:
    data = stream_of(History([("create", "/a", 1)])).replace(found, put)
    with pytest.raises(ProtocolError):
        SnapshotStream().feed(data)


def test_a_tree_without_a_root_is_refused() -> None:
    with pytest.raises(ProtocolError, match="root"):
        SnapshotStream().feed(bytes(8) + b"\0\0\0\1/" + SIGNATURE)


def test_what_is_created_while_a_snapshot_is_sent_comes_by_the_log() -> None:
    history = History([("create", "/a", 1)])
    slices = body_slices(history.tree, {})
    first = next(slices)
    history.take(("create", "/e", 1))
    incoming = SnapshotStream()
    assert incoming.feed(first + b"".join(slices) + SIGNATURE) == b""
    assert incoming.tree.get("/a") is not None
    assert incoming.tree.get("/e") is None
    assert isinstance(incoming.tree, Tree)
