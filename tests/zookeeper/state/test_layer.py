"""Writes that wait for their turn come out as if each had been done before the next was asked."""

from __future__ import annotations

from collections import deque
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from odradek.zookeeper.state.processor import Proposal
from odradek.zookeeper.state.tree import OPEN_LIST
from odradek.zookeeper.wire.codes import CreateMode, Op
from odradek.zookeeper.wire.messages.requests import (
    CheckVersionRequest,
    CreateRequest,
    DeleteRequest,
    SetDataRequest,
)
from odradek.zookeeper.wire.multi import MultiRequest
from tests.zookeeper.state.asking import WALL_MS, Asking

Asked = tuple[int, Any]  # An operation and its request.
MODES = [CreateMode.PERSISTENT, CreateMode.EPHEMERAL, CreateMode.PERSISTENT_SEQUENTIAL]


def created(path: str, mode: int = CreateMode.PERSISTENT) -> Asked:
    return Op.CREATE, CreateRequest(path, b"", OPEN_LIST, mode)


def deleted(path: str) -> Asked:
    return Op.DELETE, DeleteRequest(path, -1)


paths = st.sampled_from(["/a", "/a/b", "/a/c", "/d"])
versions = st.sampled_from([-1, 0, 1])
writes = st.one_of(
    st.builds(created, paths, st.sampled_from(MODES)),
    st.builds(deleted, paths),
    st.tuples(st.just(Op.SET_DATA), st.builds(SetDataRequest, paths, st.binary(), versions)),
)
checks = st.tuples(st.just(Op.CHECK), st.builds(CheckVersionRequest, paths, versions))
multis = st.tuples(
    st.just(Op.MULTI), st.builds(MultiRequest, st.lists(writes | checks, min_size=1, max_size=4))
)
closings = st.just((Op.CLOSE_SESSION, None))


@given(st.lists(st.tuples(writes | multis | closings, st.integers(0, 3))))
@example([(created("/a"), 1), (deleted("/a"), 0), (created("/a"), 0), (deleted("/a"), 2)])
def test_those_that_wait_come_out_as_those_that_do_not(story: list[tuple[Asked, int]]) -> None:
    """After each write that is prepared, some of those that wait are committed."""
    prompt, patient = Asking(), Asking()
    waiting: deque[Proposal] = deque()
    expected: list[object] = []
    seen: list[object] = []
    for (op, request), turns in story:
        expected.append((prompt.ask(op, request), prompt.happenings))
        waiting.append(patient.processor.prepare(patient.asker, 1, op, request, WALL_MS))
        now = [waiting.popleft() for _ in range(min(turns, len(waiting)))]
        seen += [patient.processor.commit(each) for each in now]
    seen += [patient.processor.commit(each) for each in waiting]
    assert seen == expected
    assert described(patient) == described(prompt)
    assert patient.processor.layer.digest == patient.tree.digest == prompt.tree.digest


def described(asking: Asking) -> dict[str, object]:
    nodes = asking.tree.nodes
    return {
        path: (node.stat(), node.data, sorted(node.children or ())) for path, node in nodes.items()
    }
