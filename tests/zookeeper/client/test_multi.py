"""What a server may answer to several operations, true or not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.client.chroot import Chroot
from odradek.zookeeper.client.creation import Created
from odradek.zookeeper.client.errors import BadVersion, MultiFailed, NoNode, RuntimeInconsistency
from odradek.zookeeper.client.multi import Ask, ReadOutcome, Reads, Transaction, Written
from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.errors import Error
from odradek.zookeeper.wire.jute import Record
from odradek.zookeeper.wire.messages.responses import (
    Create2Response,
    ErrorResponse,
    GetChildrenResponse,
    GetDataResponse,
    SetDataResponse,
)
from odradek.zookeeper.wire.multi import MultiRequest, MultiResponse
from tests.zookeeper.client.scripted import STAT

Results = list[tuple[int, Record | None]]


def answering(results: Results) -> Ask:
    """Ask a server that gives these results."""

    def ask(
        op: Op, request: MultiRequest, finish: Callable[[MultiResponse], Any]
    ) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        assert type(request).read(request.encode())[0] == request
        future.set_result(finish(MultiResponse(results)))
        return future

    return ask


def write(results: Results) -> list[Written]:
    """Create /a, set /b and delete /d, below /c."""

    async def main() -> list[Written]:
        transaction = Transaction(Chroot("/c"), answering(results))
        transaction.create("/a", b"data")
        transaction.set_data("/b", b"data", 3)
        transaction.delete("/d")
        return await transaction.commit()

    return asyncio.run(main())


def read(results: Results) -> list[ReadOutcome]:
    """Read /a and the children of /b, below /c."""

    async def main() -> list[ReadOutcome]:
        reads = Reads(Chroot("/c"), answering(results))
        reads.get_data("/a")
        reads.get_children("/b")
        return await reads.commit()

    return asyncio.run(main())


def errors(*codes: int) -> Results:
    return [(Op.ERROR, ErrorResponse(code)) for code in codes]


CREATED = (Op.CREATE2, Create2Response("/c/a", STAT))
SET = (Op.SET_DATA, SetDataResponse(STAT))
DELETED = (Op.DELETE, None)


def test_each_part_has_its_result_under_the_callers_path() -> None:
    assert write([CREATED, SET, DELETED]) == [Created("/a", STAT), STAT, None]


def test_a_refused_transaction_has_an_error_for_each_part() -> None:
    with pytest.raises(MultiFailed) as caught:
        write(errors(0, Error.BAD_VERSION, Error.RUNTIME_INCONSISTENCY))
    fine, culprit, untried = caught.value.errors
    assert fine is None
    assert isinstance(culprit, BadVersion)
    assert culprit.path == "/b"
    assert isinstance(untried, RuntimeInconsistency)


def test_of_reads_each_has_its_own_outcome() -> None:
    results: Results = [(Op.GET_DATA, GetDataResponse(None, STAT)), *errors(Error.NO_NODE)]
    (data, stat), error = read(results)  # type: ignore[misc]
    assert (data, stat) == (b"", STAT)
    assert isinstance(error, NoNode)
    assert error.path == "/b"


LIES: list[Results] = [
    [],
    [CREATED, SET],
    [CREATED, SET, DELETED, DELETED],
    [CREATED, SET, (Op.GET_CHILDREN, GetChildrenResponse([]))],
    errors(0, 0, 0),
]


@pytest.mark.parametrize("results", LIES)
def test_results_that_fit_no_transaction_break_the_protocol(results: Results) -> None:
    with pytest.raises(ProtocolError):
        write(results)


@pytest.mark.parametrize("results", [[], [SET, DELETED]])
def test_results_that_fit_no_reads_break_the_protocol(results: Results) -> None:
    with pytest.raises(ProtocolError):
        read(results)
