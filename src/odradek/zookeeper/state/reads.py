"""Reads: answered from the tree as this server has it, and watches set on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from odradek.zookeeper.state import acl
from odradek.zookeeper.state.asker import Asker, Rules
from odradek.zookeeper.state.node import Node
from odradek.zookeeper.state.tree import OPEN_ACL, Tree
from odradek.zookeeper.state.watches import MEANT, Kind, Watcher, Watches
from odradek.zookeeper.wire.codes import AddWatchMode, Op, Perms
from odradek.zookeeper.wire.errors import Error
from odradek.zookeeper.wire.jute import Record
from odradek.zookeeper.wire.messages.data import ClientInfo
from odradek.zookeeper.wire.messages.packed import PackedData, PackedStat
from odradek.zookeeper.wire.messages.requests import (
    AddWatchRequest,
    CheckWatchesRequest,
    ExistsRequest,
    GetACLRequest,
    GetAllChildrenNumberRequest,
    GetChildren2Request,
    GetChildrenRequest,
    GetDataRequest,
    GetEphemeralsRequest,
    RemoveWatchesRequest,
)
from odradek.zookeeper.wire.messages.responses import (
    ErrorResponse,
    GetACLResponse,
    GetAllChildrenNumberResponse,
    GetChildren2Response,
    GetChildrenResponse,
    GetEphemeralsResponse,
    WhoAmIResponse,
)
from odradek.zookeeper.wire.multi import MultiReadRequest, MultiResponse

Answer = Record | MultiResponse | None
READ = Perms.READ
BLANKS = "".join(map(chr, range(0x21)))  # What Java trims.


@dataclass(slots=True)
class Reader:
    """Who reads, and what from."""

    tree: Tree
    watches: Watches
    rules: Rules
    asker: Asker
    watcher: Watcher

    def find(self, path: str, perms: int = READ) -> Node | Error:
        """The node at a path, if it is there and may be read."""
        node = self.tree.get(path)
        if node is None:
            return Error.NO_NODE
        entries = node.acl
        if entries is OPEN_ACL or self.rules.skips_acl:
            return node  # Nearly always.
        return node if acl.allows(entries, perms, self.asker.ids) else Error.NO_AUTH


def read(reader: Reader, op: int, request: Any) -> Answer | Error:
    """Answer one read."""
    return READERS[op](reader, request)


def get_data(reader: Reader, request: GetDataRequest) -> Answer | Error:
    node = reader.find(request.path)
    if type(node) is Error:
        return node
    if request.watch:
        reader.watches.add(Kind.DATA, request.path, reader.watcher)
    return PackedData(node.data, node.packed_stat())


def exists(reader: Reader, request: ExistsRequest) -> Answer | Error:
    """Missing nodes can be watched too: then for being created."""
    if "\0" in request.path:
        return Error.BAD_ARGUMENTS
    node = reader.find(request.path)
    if request.watch and node is not Error.NO_AUTH:
        reader.watches.add(Kind.DATA, request.path, reader.watcher)
    return node if isinstance(node, Error) else PackedStat(node.packed_stat())


def get_children(reader: Reader, request: GetChildrenRequest) -> Answer | Error:
    node = reader.find(request.path)
    if isinstance(node, Error):
        return node
    if request.watch:
        reader.watches.add(Kind.CHILD, request.path, reader.watcher)
    return GetChildrenResponse(list(node.children or ()))


def get_children2(reader: Reader, request: GetChildren2Request) -> Answer | Error:
    node = reader.find(request.path)
    if isinstance(node, Error):
        return node
    if request.watch:
        reader.watches.add(Kind.CHILD, request.path, reader.watcher)
    return GetChildren2Response(list(node.children or ()), node.stat())


def get_all_children_number(reader: Reader, request: GetAllChildrenNumberRequest) -> Answer | Error:
    node = reader.find(request.path)
    if isinstance(node, Error):
        return node
    if request.path in ("", "/"):
        # By its empty name the root is counted among what is below it.
        return GetAllChildrenNumberResponse(len(reader.tree) - 1 - len(request.path))
    count, _ = reader.tree.count_below(request.path)
    return GetAllChildrenNumberResponse(count - 1)


def get_acl(reader: Reader, request: GetACLRequest) -> Answer | Error:
    node = reader.find(request.path, Perms.READ | Perms.ADMIN)
    if isinstance(node, Error):
        return node
    is_open = reader.rules.skips_acl or acl.allows(node.acl, Perms.ADMIN, reader.asker.ids)
    return GetACLResponse(list(node.acl) if is_open else acl.masked(node.acl), node.stat())


def get_ephemerals(reader: Reader, request: GetEphemeralsRequest) -> Answer | Error:
    prefix = request.prefix_path or ""
    paths = sorted(reader.tree.ephemerals_of(reader.asker.session_id))
    if prefix.strip(BLANKS) not in ("", "/"):
        paths = [path for path in paths if path.startswith(prefix)]
    return GetEphemeralsResponse(paths)


def who_am_i(reader: Reader, request: None) -> Answer | Error:
    infos = [ClientInfo(each.scheme or "", acl.user_of(each)) for each in reader.asker.ids]
    return WhoAmIResponse(infos)


def add_watch(reader: Reader, request: AddWatchRequest) -> Answer | Error:
    if request.mode not in (AddWatchMode.PERSISTENT, AddWatchMode.PERSISTENT_RECURSIVE):
        return Error.MARSHALLING_ERROR
    is_recursive = request.mode == AddWatchMode.PERSISTENT_RECURSIVE
    kind = Kind.RECURSIVE if is_recursive else Kind.PERSISTENT
    reader.watches.add(kind, request.path, reader.watcher)
    return ErrorResponse(0)


def check_watches(reader: Reader, request: CheckWatchesRequest) -> Answer | Error:
    if request.type not in MEANT:
        return Error.MARSHALLING_ERROR
    has = reader.watches.has(request.path, request.type, reader.watcher)
    return None if has else Error.NO_WATCHER


def remove_watches(reader: Reader, request: RemoveWatchesRequest) -> Answer | Error:
    if request.type not in MEANT:
        return Error.MARSHALLING_ERROR
    kinds = MEANT[request.type]
    removed = [reader.watches.remove(kind, request.path, reader.watcher) for kind in kinds]
    return None if any(removed) else Error.NO_WATCHER


def multi_read(reader: Reader, request: MultiReadRequest) -> Answer | Error:
    """Each part by itself: a result, or an error in its place. None of them sets a watch."""
    results: list[tuple[int, Record | None]] = []
    for op, part in request.operations:
        assert isinstance(part, GetDataRequest | GetChildrenRequest)
        answer = read(reader, op, type(part)(part.path, False))
        if isinstance(answer, Error):
            results.append((Op.ERROR, ErrorResponse(answer)))
        else:
            assert not isinstance(answer, MultiResponse)
            results.append((op, answer))
    return MultiResponse(results)


READERS: dict[int, Callable[[Reader, Any], Answer | Error]] = {
    Op.GET_DATA: get_data,
    Op.EXISTS: exists,
    Op.GET_CHILDREN: get_children,
    Op.GET_CHILDREN2: get_children2,
    Op.GET_ALL_CHILDREN_NUMBER: get_all_children_number,
    Op.GET_ACL: get_acl,
    Op.GET_EPHEMERALS: get_ephemerals,
    Op.WHO_AM_I: who_am_i,
    Op.ADD_WATCH: add_watch,
    Op.CHECK_WATCHES: check_watches,
    Op.REMOVE_WATCHES: remove_watches,
    Op.MULTI_READ: multi_read,
}
