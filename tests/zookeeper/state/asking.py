"""A processor to ask things of, without a log: what is prepared is committed."""

from __future__ import annotations

from typing import Any

from odradek.zookeeper.state.asker import Asker, Rules
from odradek.zookeeper.state.processor import Happening, Processor
from odradek.zookeeper.state.reads import Answer
from odradek.zookeeper.state.tree import OPEN_ACL, Tree
from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.errors import Error
from odradek.zookeeper.wire.messages.data import ACL, Id
from odradek.zookeeper.wire.messages.requests import (
    CreateRequest,
    CreateTTLRequest,
    DeleteRequest,
    SetDataRequest,
)

SESSION = 0x1000
WALL_MS = 1_700_000_000_000


class Asking:
    """One client of a processor."""

    def __init__(self, rules: Rules | None = None, ids: list[Id] | None = None) -> None:
        self.processor = Processor(Tree.fresh(), rules or Rules(allows_ttl=True))
        self.asker = Asker(SESSION, ids if ids is not None else [Id("ip", "127.0.0.1")])
        self.happenings: list[Happening] = []

    @property
    def tree(self) -> Tree:
        return self.processor.tree

    def ask(self, op: int, request: Any) -> Answer | Error:
        proposal = self.processor.prepare(self.asker, 1, op, request, WALL_MS)
        answer, self.happenings = self.processor.commit(proposal)
        return answer

    def create(
        self, path: str, data: bytes | None = b"", flags: int = 0, acl: tuple[ACL, ...] = OPEN_ACL
    ) -> Answer | Error:
        return self.ask(Op.CREATE, CreateRequest(path, data, list(acl), flags))

    def create_ttl(self, path: str, ttl: int, flags: int = 5) -> Answer | Error:
        return self.ask(Op.CREATE_TTL, CreateTTLRequest(path, b"", list(OPEN_ACL), flags, ttl))

    def delete(self, path: str, version: int = -1) -> Answer | Error:
        return self.ask(Op.DELETE, DeleteRequest(path, version))

    def set(self, path: str, data: bytes | None, version: int = -1) -> Answer | Error:
        return self.ask(Op.SET_DATA, SetDataRequest(path, data, version))
