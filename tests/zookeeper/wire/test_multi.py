"""Several operations in one request."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.messages.requests import DeleteRequest, GetDataRequest
from odradek.zookeeper.wire.messages.responses import ErrorResponse
from odradek.zookeeper.wire.messages.session import MultiHeader
from odradek.zookeeper.wire.multi import RESULTS, MultiReadRequest, MultiRequest, MultiResponse
from odradek.zookeeper.wire.requests import Request, decode_body, decode_request, encode_request
from tests.zookeeper.wire.values import any_record


def any_multi(kind: type[MultiRequest]) -> st.SearchStrategy[MultiRequest]:
    parts = [st.tuples(st.just(op), any_record(record)) for op, record in kind.kinds.items()]
    return st.builds(kind, st.lists(st.one_of(parts), max_size=5))


def any_multi_response() -> st.SearchStrategy[MultiResponse]:
    parts = [
        st.tuples(st.just(op), any_record(record) if record else st.none())
        for op, record in RESULTS.items()
    ]
    return st.builds(MultiResponse, st.lists(st.one_of(parts), max_size=5))


@given(any_multi(MultiRequest) | any_multi(MultiReadRequest), st.binary(max_size=8))
def test_any_multi_survives(multi: MultiRequest, rest: bytes) -> None:
    encoded = multi.encode()
    assert type(multi).read(encoded + rest) == (multi, len(encoded))


@given(any_multi_response())
def test_any_results_survive(response: MultiResponse) -> None:
    encoded = response.encode()
    assert MultiResponse.read(encoded) == (response, len(encoded))


@pytest.mark.parametrize(("op", "kind"), [(14, MultiRequest), (22, MultiReadRequest)])
def test_a_multi_is_read_with_its_header(op: int, kind: type[MultiRequest]) -> None:
    frame = encode_request(7, op, kind([]))[4:]
    assert decode_request(frame) == Request(7, op, kind([]), frame)
    assert decode_body(op, frame[8:]) == kind([])


def test_a_multi_holds_no_reads_and_a_multi_read_no_writes() -> None:
    read = MultiReadRequest([(Op.GET_DATA, GetDataRequest("/a", watch=False))])
    write = MultiRequest([(Op.DELETE, DeleteRequest("/a", -1))])
    with pytest.raises(ProtocolError, match="operation 4 in a MultiRequest"):
        MultiRequest.read(read.encode())
    with pytest.raises(ProtocolError, match="operation 2 in a MultiReadRequest"):
        MultiReadRequest.read(write.encode())


def test_a_multi_holds_no_multi() -> None:
    with pytest.raises(ProtocolError, match="operation 14"):
        MultiRequest.read(MultiHeader(Op.MULTI, done=False, err=-1).encode() * 1000)


def test_an_error_is_said_twice() -> None:
    encoded = MultiResponse([(Op.ERROR, ErrorResponse(-101))]).encode()
    header, position = MultiHeader.read(encoded)
    assert header == MultiHeader(-1, done=False, err=-101)
    assert ErrorResponse.read(encoded, position)[0] == ErrorResponse(-101)


def test_a_result_of_no_known_kind_is_refused() -> None:
    with pytest.raises(ProtocolError, match="operation 9"):
        MultiResponse.read(MultiHeader(Op.SYNC, done=False, err=0).encode())
