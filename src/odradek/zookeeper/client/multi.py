"""Several operations in one request.

    transaction = client.transaction()
    transaction.check("/controller_epoch", 7)
    transaction.create("/admin/delete_topics/orders")
    checked, created = await transaction.commit()

A transaction happens as a whole or not at all; of several reads each has its own outcome.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.client.chroot import Chroot
from odradek.zookeeper.client.creation import OPEN_TO_ALL, Created, Creation
from odradek.zookeeper.client.errors import MultiFailed, ZooKeeperError, error_of
from odradek.zookeeper.wire.codes import CreateMode, Op
from odradek.zookeeper.wire.jute import Record
from odradek.zookeeper.wire.messages.data import ACL, Stat
from odradek.zookeeper.wire.messages.requests import (
    CheckVersionRequest,
    DeleteRequest,
    GetChildrenRequest,
    GetDataRequest,
    SetDataRequest,
)
from odradek.zookeeper.wire.messages.responses import (
    Create2Response,
    ErrorResponse,
    GetChildrenResponse,
    GetDataResponse,
    SetDataResponse,
)
from odradek.zookeeper.wire.multi import MultiReadRequest, MultiRequest, MultiResponse

Ask = Callable[[Op, MultiRequest, Callable[[MultiResponse], Any]], asyncio.Future[Any]]
Written = Created | Stat | None  # Of a create, of a set_data, of a delete or check.
ReadOutcome = tuple[bytes, Stat] | list[str] | ZooKeeperError


class Parts:
    """Operations gathered for one request."""

    def __init__(self, chroot: Chroot, ask: Ask) -> None:
        self._chroot = chroot
        self._ask = ask
        self._parts: list[tuple[int, Record]] = []
        self._paths: list[str] = []

    def __len__(self) -> int:
        return len(self._parts)

    def _add(self, path: str, op: Op, record: Record) -> None:
        self._parts.append((op, record))
        self._paths.append(path)

    def _results(self, response: MultiResponse) -> list[Record | None]:
        if len(response.results) != len(self._parts):
            raise ProtocolError(f"{len(response.results)} results of {len(self._parts)} operations")
        return [record for _, record in response.results]


class Transaction(Parts):
    """Writes and checks, gathered until `commit`."""

    def create(
        self,
        path: str,
        data: bytes | None = b"",
        *,
        mode: CreateMode = CreateMode.PERSISTENT,
        acl: Sequence[ACL] = OPEN_TO_ALL,
        ttl_ms: int | None = None,
    ) -> None:
        creation = Creation(path, data, mode, acl, ttl_ms)
        self._add(path, *creation.request(self._chroot.add(path), Op.CREATE2))

    def delete(self, path: str, version: int = -1) -> None:
        self._add(path, Op.DELETE, DeleteRequest(self._chroot.add(path), version))

    def set_data(self, path: str, data: bytes | None, version: int = -1) -> None:
        self._add(path, Op.SET_DATA, SetDataRequest(self._chroot.add(path), data, version))

    def check(self, path: str, version: int) -> None:
        """Let the whole fail unless the znode is there, at this version."""
        self._add(path, Op.CHECK, CheckVersionRequest(self._chroot.add(path), version))

    def commit(self) -> asyncio.Future[list[Written]]:
        """Do it all. The results are in the order of the parts; a refusal is a `MultiFailed`."""
        return self._ask(Op.MULTI, MultiRequest(self._parts), self._finish)

    def _finish(self, response: MultiResponse) -> list[Written]:
        results = self._results(response)
        errors = list(map(_error_in, results, self._paths))
        if any(errors):
            raise MultiFailed(errors)
        return list(map(self._written, results))

    def _written(self, result: Record | None) -> Written:
        match result:
            case None:
                return None
            case Create2Response(path, stat):
                return Created(self._chroot.remove(path), stat)
            case SetDataResponse(stat):
                return stat
        raise ProtocolError(f"a {type(result).__name__} in reply to a transaction")


class Reads(Parts):
    """Reads, gathered until `commit`; none of them can set a watch."""

    def get_data(self, path: str) -> None:
        self._add(path, Op.GET_DATA, GetDataRequest(self._chroot.add(path), watch=False))

    def get_children(self, path: str) -> None:
        self._add(path, Op.GET_CHILDREN, GetChildrenRequest(self._chroot.add(path), watch=False))

    def commit(self) -> asyncio.Future[list[ReadOutcome]]:
        """Read it all, at one moment; an error stands where its result would be."""
        return self._ask(Op.MULTI_READ, MultiReadRequest(self._parts), self._finish)

    def _finish(self, response: MultiResponse) -> list[ReadOutcome]:
        return list(map(_outcome, self._results(response), self._paths))


def _outcome(result: Record | None, path: str) -> ReadOutcome:
    match result:
        case GetDataResponse(data, stat):
            return data or b"", stat
        case GetChildrenResponse(children):
            return children
        case ErrorResponse(err):
            return error_of(err, path)
    raise ProtocolError(f"a {type(result).__name__} in reply to reads")


def _error_in(result: Record | None, path: str) -> ZooKeeperError | None:
    if isinstance(result, ErrorResponse) and result.err:
        return error_of(result.err, path)
    return None
